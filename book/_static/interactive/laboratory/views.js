"use strict";

/* The laboratory's pictures: gatings and blocks, grids to draw in, neurons and samples. */
Object.assign(Laboratory, (() => {
  const { html, svg, box } = Figures;
  const { range, isXor, groupsOf } = Laboratory;
  const small = (...children) => html("p", { class: "laboratory-small" }, ...children);
  const fold = (title, ...children) => // `hide`: not on paper
    html("details", { class: "hide" }, html("summary", {}, title), ...children);

  /* The colour of what is active in k groups. */
  function colour(k, chosen) {
    const below = groupsOf(chosen) - k;
    if (k < 2) return ["soft", "c1"][k];
    return isXor(chosen) ? ["c3", "c5", "c2"][below] : ["c3", "c2", "c4", "c5"][below];
  }

  /* Squares, filled where `rows` say so. */
  const squares = (rows, side, gap, said = { "aria-hidden": "true" }) => svg("svg", {
    width: side * rows[0].length, height: side * rows.length, class: "laboratory-squares", ...said,
  }, ...rows.flatMap((row, y) => row.map((value, x) => svg("rect", {
    x: side * x + gap / 2, y: side * y + gap / 2, width: side - gap, height: side - gap,
    "fill-opacity": value,
  }))));
  const gating = (sets, G, side = 13) =>
    squares(sets.map((set) => range(G).map((g) => +set.includes(g))), side, 3, { role: "img",
      "aria-label": `groups of neurons active in ${sets.map((set) =>
        set.map((g) => g + 1).join(" ")).join("; ")}:` });

  /* A block to draw in: its structure by name, or cell by cell, with mouse, finger or arrow keys;
     `changed` is then called with the block. */
  function tile(block, place, open, changed) {
    const names = [...Object.keys(Laboratory.STRUCTURES), "drawn"];
    const select = html("select", { "aria-label": `structure ${place}` },
      ...names.map((name) => html("option", {}, name)));
    select.value = block[0];
    select.addEventListener("change", () => {
      const make = Laboratory.STRUCTURES[select.value];
      changed(make ? [select.value, make(block[1][0].length)] : ["drawn", block[1]], true);
    });
    const cells = block[1].map((row, r) => row.map((_, i) =>
      html("span", { role: "gridcell", tabindex: r || i ? -1 : 0, "data-at": `${r} ${i}` })));
    const placeOf = (cell) => cell.dataset.at.split(" ").map(Number);
    function show(r, i) {
      const value = block[1][r][i];
      const said = { 0: "no", 1: "yes" }[value] ?? value.toFixed(2);
      cells[r][i].style.setProperty("--value", value);
      cells[r][i].setAttribute("aria-label", `${place}, property ${r + 1}, item ${i + 1}: ${said}`);
    }
    cells.forEach((row, r) => row.forEach((_, i) => show(r, i)));
    function flip([r, i]) {
      block = ["drawn", block[1].map((row, s) =>
        (s === r ? row.map((old, j) => (j === i ? +!old : old)) : row))];
      select.value = "drawn";
      show(r, i);
      changed(block);
    }
    const grid = html("div", { class: "laboratory-cells", role: "grid", "aria-label":
      `properties ${place}`, style: `grid-template-columns: repeat(${cells[0].length}, 1fr)` },
    ...cells.map((row) => html("div", { role: "row" }, ...row)));
    grid.addEventListener("click", ({ target }) => target.dataset.at && flip(placeOf(target)));
    const MOVES = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1],
      " ": [0, 0], Enter: [0, 0] };
    grid.addEventListener("keydown", (event) => {
      const [here, move] = [placeOf(event.target), MOVES[event.key]];
      const next = move && cells[here[0] + move[0]]?.[here[1] + move[1]];
      if (move) event.preventDefault();
      if (next === event.target) flip(here);
      else if (next) {
        [event.target.tabIndex, next.tabIndex] = [-1, 0];
        next.focus();
      }
    });
    return html("details", { class: "interactive-tile hide", ...(open && { open: "" }) },
      html("summary", {}, html("strong", {}, place)), select, grid);
  }

  /* ---- Pictures of many small fields, on a canvas ---- */

  function rgb(node, name) {
    const hex = getComputedStyle(node).getPropertyValue(`--${name}`).trim();
    const pen = document.createElement("canvas").getContext("2d");
    pen.fillStyle = hex;
    return [1, 3, 5].map((i) => parseInt(pen.fillStyle.slice(i, i + 2), 16));
  }

  /* Fields of a width × height, `tall` pixels; field(x, y) is a colour, and how much of it. Lines
     are shares of the width and of the height. */
  function paint(canvas, [width, height], tall, field, { across = [], down = [] } = {}) {
    const ratio = window.devicePixelRatio || 1;
    const [paper, ink] = [rgb(canvas, "paper"), rgb(canvas, "ink")];
    const image = new ImageData(width, height);
    for (let y = 0, at = 0; y < height; y++) for (let x = 0; x < width; x++, at += 4) {
      const [colour, much] = field(x, y);
      paper.forEach((value, j) => (image.data[at + j] = value + (colour[j] - value) * much));
      image.data[at + 3] = 255;
    }
    const small = new OffscreenCanvas(width, height);
    small.getContext("2d").putImageData(image, 0, 0);
    canvas.style.height = `${tall}px`;
    [canvas.width, canvas.height] = [canvas.clientWidth * ratio, tall * ratio];
    const pen = canvas.getContext("2d");
    pen.imageSmoothingEnabled = false;
    pen.drawImage(small, 0, 0, canvas.width, canvas.height);
    pen.fillStyle = `rgb(${ink})`;
    for (const share of down) pen.fillRect(share * canvas.width, 0, ratio, canvas.height);
    for (const share of across) pen.fillRect(0, share * canvas.height, canvas.width, ratio);
  }

  /* A neuron's preferences as bars, the lowest marked. */
  function bars(pi) {
    const [tall, lowest, width] = [Math.max(...pi.map(Math.abs)), Math.min(...pi), 66 / pi.length];
    const said = pi.map((value) => (value / tall).toFixed(1)).join(", ");
    return svg("svg", { width: 66, height: 60, role: "img", "aria-label": `preferences ${said}` },
      svg("path", { d: "M0 23H66", class: "grid" }),
      ...pi.flatMap((value, g) => [
        svg("rect", { x: g * width + 2, width: width - 4, y: 23 - 21 * Math.max(0, value / tall),
          height: (21 * Math.abs(value)) / tall,
          class: `fill ${value === lowest ? "c2" : "soft"}` }),
        svg("text", { x: (g + 0.5) * width, y: 59, "text-anchor": "middle" }, `${g + 1}`),
      ]));
  }

  return { small, fold, colour, squares, gating, tile, rgb, paint, bars };
})());
