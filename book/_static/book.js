// Boxes that scroll sideways can be reached, and moved, from the keyboard.
(() => {
  const boxes = {
    "mjx-container[display='true']": "formula",
    "div.math": "formula",
    ".pst-scrollable-table-container": "table",
    "div.cell_output": "output",
    "div.text_html": "table",
    "pre": "code",
  };

  function mark(box, name) {
    const style = getComputedStyle(box);
    const scrolls =
      (box.scrollWidth > box.clientWidth && /auto|scroll/.test(style.overflowX)) ||
      (box.scrollHeight > box.clientHeight && /auto|scroll/.test(style.overflowY));
    if (scrolls) {
      box.tabIndex = 0;
      box.setAttribute("role", "region");
      box.setAttribute("aria-label", name);
      box.dataset.reachable = "";
    } else if ("reachable" in box.dataset) {
      for (const attribute of ["tabindex", "role", "aria-label", "data-reachable"]) {
        box.removeAttribute(attribute);
      }
    }
  }

  function markAll() {
    for (const [selector, kind] of Object.entries(boxes)) {
      document.querySelectorAll(`main ${selector}`).forEach((box, index) => {
        mark(box, `Wide ${kind} ${index + 1}`);
      });
    }
  }

  let waiting = 0;
  function markSoon() {
    clearTimeout(waiting);
    waiting = setTimeout(markAll, 100);
  }

  window.addEventListener("load", () => {
    markAll();
    window.MathJax?.startup?.promise?.then(markAll);
  });
  window.addEventListener("resize", markSoon);
  document.addEventListener("toggle", markSoon, true);
  document.addEventListener("click", markSoon);
})();

// How a page is cited ends with the address at which it is read.
window.addEventListener("DOMContentLoaded", () => {
  if (!location.protocol.startsWith("http")) return;
  document.querySelectorAll(".page-address").forEach((place) => {
    place.textContent = `, ${location.origin}${location.pathname}`;
  });
});

// Paper is white.
(() => {
  let theme;
  window.addEventListener("beforeprint", () => {
    theme = document.documentElement.dataset.theme;
    document.documentElement.dataset.theme = "light";
  });
  window.addEventListener("afterprint", () => {
    document.documentElement.dataset.theme = theme;
  });
})();
