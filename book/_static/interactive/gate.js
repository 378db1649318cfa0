"use strict";

/* The gate of a ReLU neuron: its weights, its pattern, and what the pattern costs. The page holds
   the number of realisable patterns and, for each choice of how many contexts each item is on in,
   the largest drive: {count, drives: {"2222": share, …}}. */
Figures.define("gate", ({ count, drives }, ui) => {
  const { html, box, button, cell, mark, numbers, percent } = Figures;
  const [ITEMS, CONTEXTS] = [4, 3];
  const START = { item: [0.5, 0.2, -0.3, -1.2], context: [0.4, 0.9, -0.1] };
  const BEST = Math.max(...Object.values(drives));
  let [pattern, refused] = [null, null]; // the neuron's, or a wanted one that no neuron has

  const weights = (kind) => START[kind].map((value, i) => [`${kind}${i + 1}`, {
    label: `${kind} ${i + 1}`, min: -2, max: 2, step: 0.1, value,
    show: (weight) => Figures.signed(weight, 1),
  }]);
  const named = (a, b) => Object.fromEntries(
    [...a.map((w, i) => [`item${i + 1}`, w]), ...b.map((w, c) => [`context${c + 1}`, w])]);
  const cells = numbers(ITEMS).map((item) => numbers(CONTEXTS).map((context) => {
    const turn = (row) => row.map((on, c) => (c === context - 1 ? 1 - on : on));
    const press = () => want(pattern.map((row, i) => (i === item - 1 ? turn(row) : row)));
    return cell(press, { "data-cell": `${item - 1} ${context - 1}` });
  }));

  /* A bar from 0 to 1: what these weights reach, and a mark at the most that the pattern allows. */
  const reached = html("span", { class: "interactive-bar-fill" });
  const most = html("span", { class: "interactive-bar-mark" });
  const price = box("price", html("span", {}, "drive, as a share of a contextual pathway's "
    + "(bar: these weights; mark: the best ones)"), box("bar", reached, most));

  /* A pattern was clicked: find weights for it, if there are any. */
  function want(wanted) {
    refused = Theory.forbiddenPart(wanted) && wanted;
    const { a, b } = Theory.weightsOf(wanted);
    ui.set(refused ? {} : named(a, b));
  }

  function refusal({ items: [i, j], contexts: [c, d] }) {
    return `No ReLU neuron has this pattern. Items ${i + 1} and ${j + 1} in contexts `
      + `${Math.min(c, d) + 1} and ${Math.max(c, d) + 1} (outlined) form a permutation matrix: `
      + `item ${i + 1} would need more in context ${c + 1} and less in context ${d + 1} than item `
      + `${j + 1}, but a context adds the same to both. The weights stay as they were.`;
  }

  function cost(best, now) {
    const on = pattern.flat().filter(Boolean).length;
    const start = `Realisable: on for ${on} of ${ITEMS * CONTEXTS} samples, one of ${count} `
      + `realisable patterns among ${2 ** (ITEMS * CONTEXTS)}.`;
    if (best === 0) {
      return `${start} Behind this gate nothing is left to learn of the split of items 1, 2 `
        + "against 3, 4 once the common pathway has finished.";
    }
    return `${start} What the common pathway leaves of the split of items 1, 2 against 3, 4 drives `
      + `a neuron with this pattern at no more than ${percent(best)} of the strength at which it `
      + "drives a contextual pathway, which gets its gate for free"
      + `${best === BEST ? ", and no pattern allows more" : ""}. These weights reach `
      + `${percent(now)}.`;
  }

  const preset = (name, rows) =>
    button(name, () => want(rows.map((row) => [...row].map(Number))));

  return {
    sliders: Object.fromEntries([...weights("item"), ...weights("context")]),
    layout({ sliders, text }) {
      const grid = html("div", { class: "interactive-grid", role: "group",
        "aria-label": "Pattern of the neuron: items in rows, contexts in columns",
        "aria-describedby": text.id });
      const nodes = Object.values(sliders).map(({ node }) => node);
      nodes.forEach((node) => node.addEventListener("input", () => (refused = null), true));
      grid.append(html("span"), ...nodes.slice(ITEMS));
      cells.forEach((row, i) => grid.append(nodes[i], ...row));
      return [grid, price, text, box("buttons",
        preset("two contexts", ["110", "110", "110", "110"]),
        preset("staircase", ["111", "110", "110", "100"]),
        preset("one sample", ["100", "000", "000", "000"]),
        preset("not realisable", ["110", "110", "110", "001"]),
        button("start again", () => {
          refused = null;
          ui.set(named(START.item, START.context));
        }))];
    },
    draw(values) {
      const [a, b] = ["item", "context"].map((kind) =>
        START[kind].map((_, i) => values[`${kind}${i + 1}`]));
      pattern = refused || Theory.patternOf(a, b);
      const part = Theory.forbiddenPart(pattern);
      cells.forEach((row, i) => row.forEach((node, c) => {
        const conflict = part && part.items.includes(i) && part.contexts.includes(c);
        const name = `item ${i + 1} in context ${c + 1}`;
        mark(node, pattern[i][c], name, conflict && "part of the conflict");
      }));
      const best = part ? 0 : drives[Theory.rowSizes(pattern).join("")];
      const now = Theory.driveOf(a, b);
      price.classList.toggle("empty", Boolean(part));
      reached.style.width = `${100 * now}%`;
      most.style.left = `${100 * best}%`;
      return { text: part ? refusal(part) : cost(best, now) };
    },
  };
});
