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

// On a phone the panels of a wide figure stack: the picture is shown once for every row of panels.
(() => {
  const WIDEST = 740; // pixels of a row as it is drawn, of which a page takes 1097

  // Panels with what belongs to them, such as a colour bar: [left, right], as shares of the width.
  function panelsOf(svg) {
    const all = svg.getBoundingClientRect();
    const panels = [];
    [...svg.querySelectorAll("#figure_1 > g > :is(g, image), #figure_1 > g[id^='text']")]
      .filter((part) => !part.matches("g:not([id^='matplotlib'])") || !part.querySelector("[clip-path]"))
      .map((part) => part.getBoundingClientRect()).filter(({ width }) => width)
      .map(({ left, right }) => [(left - all.left) / all.width, (right - all.left) / all.width])
      .sort(([a], [b]) => a - b)
      .forEach(([left, right]) => {
        const last = panels.at(-1);
        const apart = last && left > last[1] && Math.min(right - left, last[1] - last[0]) > 0.12;
        if (!last || apart) panels.push([left, right]);
        else last[1] = Math.max(last[1], right);
      });
    return panels;
  }

  function rowsOf(panels, width) {
    const cuts = panels.slice(1).map(([left], i) => (panels[i][1] + left) / 2);
    const rows = [];
    for (const [i, end] of [...cuts, 1].entries()) {
      const from = rows.at(-1)?.[1] ?? 0;
      if (!(((cuts[i + 1] ?? 1) - from) * width <= WIDEST) || end === 1) rows.push([from, end]);
    }
    return rows;
  }

  async function stack(image) {
    const [width, height] = ["width", "height"].map((name) => image.getAttribute(name));
    const holder = Object.assign(document.createElement("div"), { className: "measured" });
    holder.innerHTML = await (await fetch(image.src)).text();
    document.body.append(holder);
    const rows = rowsOf(panelsOf(holder.querySelector("svg")), width);
    holder.remove();
    const widest = Math.max(...rows.map(([from, end]) => end - from));
    if (rows.length > 1) image.replaceWith(...rows.map(([from, end], i) => {
      const part = image.cloneNode();
      part.classList.add("panel");
      if (i > 0) part.alt = "Further panels of the picture above.";
      part.style = `--wide: ${(end - from) / widest}; --ratio: ${(end - from) * width} / ${height};
        --at: ${(100 * from) / (1 - end + from)}% 50%`;
      return part;
    }));
  }

  if (!matchMedia("(max-width: 600px)").matches || location.protocol === "file:") return;
  window.addEventListener("load", () => {
    document.querySelectorAll("div.cell_output img[src$='.svg'][width]").forEach((image) => {
      if (image.complete && image.naturalWidth) stack(image);
      else image.addEventListener("load", () => stack(image), { once: true });
    });
  });
})();

// A click clears what a search has marked; Escape does, too.
document.addEventListener("click", () => {
  if (typeof SphinxHighlight !== "undefined") SphinxHighlight.hideSearchWords();
});

// What a search shows of a page has neither code nor formulas.
window.addEventListener("DOMContentLoaded", () => {
  if (typeof Search === "undefined") return;
  const text = Search.htmlToText;
  Search.htmlToText = (html, anchor) => {
    const page = new DOMParser().parseFromString(html, "text/html");
    page.querySelectorAll("pre, summary, .math, .cell_output").forEach((node) => node.remove());
    return text(page.documentElement.outerHTML, anchor);
  };
});
