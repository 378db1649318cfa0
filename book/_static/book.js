// Boxes that scroll can be reached, and moved, from the keyboard.
(() => {
  const BOXES = "main :is(mjx-container[display='true'], div.math, div.cell_output, div.text_html, "
    + ".pst-scrollable-table-container, .neuron, pre)";

  function mark() {
    document.querySelectorAll(BOXES).forEach((box, index) => {
      const { overflowX, overflowY } = getComputedStyle(box);
      const scrolls = (box.scrollWidth > box.clientWidth && /auto|scroll/.test(overflowX))
        || (box.scrollHeight > box.clientHeight && /auto|scroll/.test(overflowY));
      const name = `Wide content ${index + 1}`;
      for (const [key, value] of Object.entries({ tabindex: 0, role: "region", "aria-label": name })) {
        if (scrolls) box.setAttribute(key, value);
        else box.removeAttribute(key);
      }
    });
  }

  let waiting = 0;
  function soon() {
    clearTimeout(waiting);
    waiting = setTimeout(mark, 100);
  }
  window.addEventListener("load", () => {
    mark();
    window.MathJax?.startup?.promise?.then(mark);
  });
  window.addEventListener("resize", soon);
  document.addEventListener("toggle", soon, true);
  document.addEventListener("click", soon);
})();

// How a page is cited ends with the address at which it is read.
window.addEventListener("DOMContentLoaded", () => {
  if (!location.protocol.startsWith("http")) return;
  document.querySelectorAll(".page-address").forEach((place) => {
    place.textContent = `, ${location.origin}${location.pathname}`;
  });
});

// Paper is white, and what folds away on the screen is printed.
(() => {
  let theme;
  let folded = [];
  const fold = (open) => folded.forEach((box) => { box.open = open; });
  window.addEventListener("beforeprint", () => {
    theme = document.documentElement.dataset.theme;
    document.documentElement.dataset.theme = "light";
    folded = [...document.querySelectorAll("details:not(.hide, [open])")];
    fold(true);
  });
  window.addEventListener("afterprint", () => {
    document.documentElement.dataset.theme = theme;
    fold(false);
  });
})();
