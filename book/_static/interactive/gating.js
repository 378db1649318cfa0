"use strict";

/* Gates of four neurons on a few samples: which of them have weights, and which. */
Figures.define("gating", (figure) => {
  const { html, choice, result } = Figures;
  const CORNERS = [[1, 1], [-1, -1], [1, -1], [-1, 1]];
  const SIGNS = ["+ +", "− −", "+ −", "− +"];
  const CLASSES = ["1100", "0011", "1000", "0010"];
  const hot = (size, i) => Array.from({ length: size }, (_, j) => Number(i === j));
  const places = [0, 1, 2].flatMap((context) => [0, 1].map((item) => [item, context]));
  const TASKS = [
    { name: "exclusive or", samples: SIGNS, rows: ["x₁", "x₂"], inputs: CORNERS, start: CLASSES },
    { name: "with a margin of 1", samples: SIGNS, rows: ["x₁", "x₂", "x₃"],
      inputs: CORNERS.map((x, i) => [...x, i < 2 ? 1 : -1]), start: CLASSES },
    { name: "items in contexts", rows: ["item 1", "item 2", "context 1", "context 2", "context 3"],
      samples: places.map(([item, context]) => `item ${item + 1}, context ${context + 1}`),
      inputs: places.map(([item, context]) => [...hot(2, item), ...hot(3, context)]),
      start: ["111111", "111100", "110011", "001111"] },
  ];
  let [task, bias, gates, last] = [TASKS[0], 0, null, 0];

  const text = result();
  const table = html("table", { class: "interactive-table", "aria-describedby": text.id });
  const cell = (tag, scope, words) => html(tag, { scope }, words);
  const row = (name, cells) => html("tr", {}, cell("th", "row", name), ...cells);
  const number = (value) => `${value < 0 ? "−" : ""}${Math.abs(value)}`;
  const list = (names) => names.join(", ").replace(/, ([^,]*)$/, " and $1");

  function start(chosen) {
    const same = gates && chosen.start === task.start; // with and without a margin
    task = chosen;
    if (!same) gates = task.start.map((unit) => [...unit].map(Number));
    last = 0;
    draw();
  }

  function draw() {
    const inputs = task.inputs.map((x) => [...x, ...Array(bias).fill(1)]);
    const weights = gates.map((gate) => Theory.halfSpace(inputs, gate));
    const parts = gates.map((gate, unit) => (weights[unit] ? [] : Theory.conflictOf(inputs, gate)));
    const focus = document.activeElement?.dataset.gate;
    const samples = task.samples.map((name, i) => row(name, gates.map((gate, unit) => {
      const [on, bad] = [gate[i] === 1, parts[unit].includes(i)];
      const button = html("button", {
        type: "button", class: `interactive-cell${bad ? " bad" : ""}`, "data-gate": `${unit} ${i}`,
        "aria-pressed": `${on}`,
        "aria-label": `neuron ${unit + 1} on ${name}: ${on ? "on" : "off"}${bad ? ", in conflict" : ""}`,
      }, on ? "on" : "off");
      button.addEventListener("click", () => {
        gate[i] = 1 - gate[i];
        last = unit;
        draw();
      });
      return html("td", {}, button);
    })));
    const rows = [...task.rows, ...Array(bias).fill("bias")].map((name, j) =>
      row(`weight of ${name}`.replace("weight of bias", "bias"),
        weights.map((w) => html("td", {}, w ? number(w[j]) : "–"))));
    table.replaceChildren(
      html("thead", {}, html("tr", {}, cell("th", "col", "sample"),
        ...gates.map((_, unit) => cell("th", "col", `neuron ${unit + 1}`)))),
      html("tbody", {}, ...samples),
      html("tbody", {}, row("realisable", weights.map((w) => html("td", {}, w ? "yes" : "no"))), ...rows),
    );
    if (focus) table.querySelector(`[data-gate="${focus}"]`)?.focus();
    const wrong = weights[last] ? weights.findIndex((w) => !w) : last;
    const why = wrong < 0 ? "All four neurons have weights."
      : `Neuron ${wrong + 1} has no weights: ${reason(gates[wrong], parts[wrong])}`;
    text.textContent = `${why} On these inputs a neuron can have ${Theory.countHalfSpaces(inputs)} of `
      + `${2 ** inputs.length} gates.`;
  }

  /* In every conflict of these samples the inputs of both sides add up to the same. */
  function reason(gate, part) {
    const [on, off] = [1, 0].map((side) => part.filter((i) => gate[i] === side).map((i) => task.samples[i]));
    if (off.length === 0) {
      return `the inputs of ${list(on)} add up to zero, so the weighted sums cannot all be positive.`;
    }
    return `the inputs of ${list(on)} add up to those of ${list(off)}, so the weighted sums cannot be `
      + "positive for the first and not for the others.";
  }

  figure.append(
    choice("inputs:", TASKS.map(({ name }) => name), (index) => start(TASKS[index])),
    choice("bias:", ["without", "with"], (index) => {
      bias = index;
      draw();
    }),
    table, text,
  );
  start(TASKS[0]);
});
