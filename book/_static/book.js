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

  // From left to right, as shares of the width, panels with what belongs to them, such as a colour bar.
  function panelsOf(svg) {
    const all = svg.getBoundingClientRect();
    const parts = [...svg.querySelectorAll("#figure_1 > g > :is(g, image), #figure_1 > g[id^='text']")]
      .filter((part) => part.matches("image, [id^='matplotlib'], [id^='text'], [id^='legend']")
        || !part.querySelector("[clip-path]"))
      .map((part) => part.getBoundingClientRect()).filter(({ width }) => width)
      .map(({ left, right }) => [left, right].map((x) => (x - all.left) / all.width))
      .sort(([a], [b]) => a - b);
    const panels = [];
    for (const [left, right] of parts) {
      const last = panels.at(-1);
      const small = (from, to) => to - from < 0.12;
      if (last && (left < last[1] || small(left, right) || small(...last))) last[1] = Math.max(last[1], right);
      else panels.push([left, right]);
    }
    return panels;
  }

  function rowsOf(panels, width) {
    const ends = panels.map(([, right], i) => (i + 1 < panels.length ? (right + panels[i + 1][0]) / 2 : 1));
    const rows = [];
    let from = 0;
    ends.forEach((end, i) => {
      if (i + 1 < ends.length && (ends[i + 1] - from) * width <= WIDEST) return;
      rows.push([from, end]);
      from = end;
    });
    return rows;
  }

  async function stack(image) {
    const holder = document.createElement("div");
    holder.style.cssText = "position: absolute; visibility: hidden; width: 0; height: 0; overflow: hidden;";
    try {
      holder.innerHTML = await (await fetch(image.src)).text();
    } catch {
      return; // pages that are read from a folder
    }
    document.body.append(holder);
    const rows = rowsOf(panelsOf(holder.querySelector("svg")), image.getAttribute("width"));
    holder.remove();
    const widest = Math.max(...rows.map(([from, end]) => end - from));
    if (rows.length < 2) return;
    const shown = [image, ...rows.slice(1).map(() => image.cloneNode())];
    shown.forEach((part, i) => {
      const [from, end] = rows[i];
      part.classList.add("panel");
      if (i > 0) part.alt = "Further panels of the picture above.";
      part.style.setProperty("--wide", (end - from) / widest);
      part.style.setProperty("--ratio", `${(end - from) * image.getAttribute("width")} / ${image.getAttribute("height")}`);
      part.style.setProperty("--at", `${100 * from / (1 - end + from)}% 50%`);
    });
    image.after(...shown.slice(1));
  }

  window.addEventListener("load", () => {
    if (!matchMedia("(max-width: 600px)").matches) return;
    document.querySelectorAll("div.cell_output img[src$='.svg'][width]").forEach((image) => {
      if (image.complete && image.naturalWidth) stack(image);
      else image.addEventListener("load", () => stack(image), { once: true });
    });
  });
})();

// A click clears what a search has marked; Escape does, too.
document.addEventListener("click", () => window.SphinxHighlight?.hideSearchWords());
