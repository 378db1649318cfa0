"use strict";

/* The gate of a ReLU neuron: its weights, its pattern, and what the pattern costs. */
Figures.define("gate", (figure) => {
  const { html, slider, buttons, button, result, percent } = Figures;
  const [ITEMS, CONTEXTS] = [4, 3];
  const START = { a: [0.5, 0.2, -0.3, -1.2], b: [0.4, 0.9, -0.1] };
  const BEST = Theory.contextGateDrive(ITEMS, CONTEXTS, 2); // of all 1066 patterns: see the tests
  const index = (size) => Array.from({ length: size }, (_, i) => i);
  const weight = (value) => `${value < 0 ? "−" : ""}${Math.abs(value).toFixed(1)}`;

  const text = result();
  let pattern = null; // what the cells show: the neuron's, or the wanted one if there is no such neuron

  const one = (kind, number, value) => slider({
    name: `${kind}${number + 1}`, label: `${kind} ${number + 1}`, min: -2, max: 2, step: 0.1, value,
    show: weight, change: () => follow(),
  });
  const items = START.a.map((value, i) => one("item", i, value));
  const contexts = START.b.map((value, c) => one("context", c, value));
  const cells = index(ITEMS).map((i) => index(CONTEXTS).map((c) => {
    const cell = html("button", { type: "button", class: "interactive-cell", "data-cell": `${i} ${c}` });
    cell.addEventListener("click", () => {
      const wanted = pattern.map((row) => [...row]);
      wanted[i][c] = 1 - wanted[i][c];
      want(wanted);
    });
    return cell;
  }));
  const grid = html("div", { class: "interactive-grid", role: "group", "aria-describedby": text.id,
    "aria-label": "Pattern of the neuron: items in rows, contexts in columns" });
  grid.append(html("span", {}), ...contexts.map(({ node }) => node));
  cells.forEach((row, i) => grid.append(items[i].node, ...row));

  /* A bar from 0 to 1: what these weights reach, and a mark at the most that the pattern allows. */
  const reached = html("span", { class: "interactive-bar-fill" });
  const most = html("span", { class: "interactive-bar-mark" });
  const bar = html("div", { class: "interactive-bar", "aria-hidden": "true" }, reached, most);
  const price = html("div", { class: "interactive-price" },
    html("span", {}, "drive, as a share of a contextual pathway's (bar: these weights; mark: the best ones)"), bar);

  /* Weights were moved: the pattern is the neuron's. */
  function follow() {
    pattern = Theory.patternOf(items.map(({ value }) => value), contexts.map(({ value }) => value));
    draw(null);
  }

  /* A pattern was clicked: find weights for it, if there are any. */
  function want(wanted) {
    pattern = wanted;
    const part = Theory.forbiddenPart(wanted);
    if (!part) {
      const { a, b } = Theory.weightsOf(wanted);
      items.forEach((item, i) => item.set(a[i]));
      contexts.forEach((context, c) => context.set(b[c]));
    }
    draw(part);
  }

  function draw(part) {
    cells.forEach((row, i) => row.forEach((cell, c) => {
      const on = pattern[i][c];
      const bad = part && part.items.includes(i) && part.contexts.includes(c);
      cell.textContent = on ? "on" : "off";
      cell.setAttribute("aria-pressed", on ? "true" : "false");
      cell.setAttribute("aria-label",
        `item ${i + 1} in context ${c + 1}: ${on ? "on" : "off"}${bad ? ", part of the conflict" : ""}`);
      cell.classList.toggle("bad", Boolean(bad));
    }));
    const best = part ? null : Theory.bestDrive(pattern);
    const now = Theory.driveOf(items.map(({ value }) => value), contexts.map(({ value }) => value));
    price.classList.toggle("empty", best === null);
    reached.style.width = `${100 * now}%`;
    most.style.left = `${100 * (best || 0)}%`;
    text.textContent = part ? refusal(part) : `${count()} ${cost(best, now)}`;
  }

  function refusal({ items: [i, j], contexts: [c, d] }) {
    return `No ReLU neuron has this pattern. Items ${i + 1} and ${j + 1} in contexts ${Math.min(c, d) + 1} `
      + `and ${Math.max(c, d) + 1} (outlined) form a permutation matrix: item ${i + 1} would need more in `
      + `context ${c + 1} and less in context ${d + 1} than item ${j + 1}, but a context adds the same to both. `
      + "The weights stay as they were.";
  }

  function count() {
    const on = pattern.flat().reduce((sum, value) => sum + value, 0);
    const all = 2 ** (ITEMS * CONTEXTS);
    return `Realisable: on for ${on} of ${ITEMS * CONTEXTS} samples, one of `
      + `${Theory.countRealisable(ITEMS, CONTEXTS)} realisable patterns among ${all}.`;
  }

  function cost(best, now) {
    if (best < 1e-9) {
      return "Behind this gate nothing is left to learn of the split of items 1, 2 against 3, 4 once the "
        + "common pathway has finished.";
    }
    const most = best > BEST - 1e-6 ? ", and no pattern allows more" : "";
    return `What the common pathway leaves of the split of items 1, 2 against 3, 4 drives a neuron with this `
      + `pattern at no more than ${percent(best)} of the strength at which it drives a contextual pathway, `
      + `which gets its gate for free${most}. These weights reach ${percent(now)}.`;
  }

  const preset = (name, rows) =>
    button(name, () => want(rows.map((row) => [...row].map(Number))));
  figure.append(
    grid,
    price,
    text,
    buttons(
      preset("two contexts", ["110", "110", "110", "110"]),
      preset("staircase", ["111", "110", "110", "100"]),
      preset("one sample", ["100", "000", "000", "000"]),
      preset("not realisable", ["110", "110", "110", "001"]),
      button("start again", () => {
        items.forEach((item, i) => item.set(START.a[i]));
        contexts.forEach((context, c) => context.set(START.b[c]));
        follow();
      })),
  );
  follow();
});
