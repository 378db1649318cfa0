"use strict";

/* Gates of four neurons on a few samples: which of them have weights, and which. The page holds
   [{name, samples, rows, start, found: [without a bias, with one]}]; what is found are the weights
   of every gate that has some, and for the others fewest samples that have none, as numbers:
   {weights: {"1100": [w, …], …}, conflicts: {"1111": [sample, …], …}}. */
Figures.define("gating", (tasks, ui) => {
  const { html, cell, mark, signed } = Figures;
  let [inputs, gates, last] = [null, null, 0];

  const table = html("table", { class: "interactive-table", "aria-describedby": ui.text.id });
  const row = (name, cells) => html("tr", {}, html("th", { scope: "row" }, name),
    ...cells.map((content) => html("td", {}, content)));
  const list = (names) => names.join(", ").replace(/, ([^,]*)$/, " and $1");

  /* In every conflict of these samples the inputs of both sides add up to the same. */
  function reason({ samples }, gate, part) {
    const [on, off] = ["1", "0"].map((side) =>
      part.filter((i) => gate[i] === side).map((i) => samples[i]));
    return off.length === 0
      ? `the inputs of ${list(on)} add up to zero, so the weighted sums cannot all be positive.`
      : `the inputs of ${list(on)} add up to those of ${list(off)}, so the weighted sums cannot be `
        + "positive for the first and not for the others.";
  }

  return {
    choices: {
      inputs: { label: "inputs:", names: tasks.map(({ name }) => name) },
      bias: { label: "bias:", names: ["without", "with"] },
    },
    layout: ({ choices, text }) => [...Object.values(choices), table, text],
    draw(values) {
      const task = tasks[values.inputs];
      if (inputs !== values.inputs) {
        const same = gates && `${tasks[inputs].start}` === `${task.start}`; // a margin or none
        [inputs, gates, last] = [values.inputs, same ? gates : [...task.start], 0];
      }
      const { weights: found, conflicts } = task.found[values.bias];
      const weights = gates.map((gate) => found[gate]);
      const parts = gates.map((gate) => conflicts[gate] || []);
      const focus = document.activeElement?.dataset.gate;
      const samples = task.samples.map((name, i) => row(name, gates.map((gate, unit) => {
        const node = cell(() => {
          gates[unit] = gate.slice(0, i) + (1 - gate[i]) + gate.slice(i + 1);
          last = unit;
          ui.set();
        }, { "data-gate": `${unit} ${i}` });
        const conflict = parts[unit].includes(i) && "in conflict";
        mark(node, gate[i] === "1", `neuron ${unit + 1} on ${name}`, conflict);
        return node;
      })));
      const names = task.rows.map((name) => `weight of ${name}`);
      const rows = [...names, ...(values.bias ? ["bias"] : [])].map((name, j) =>
        row(name, weights.map((w) => (w ? signed(w[j], 0) : "–"))));
      const head = ["sample", ...gates.map((_, unit) => `neuron ${unit + 1}`)]
        .map((name) => html("th", { scope: "col" }, name));
      table.replaceChildren(
        html("thead", {}, html("tr", {}, ...head)),
        html("tbody", {}, ...samples),
        html("tbody", {}, row("realisable", weights.map((w) => (w ? "yes" : "no"))), ...rows),
      );
      if (focus) table.querySelector(`[data-gate="${focus}"]`)?.focus();
      const wrong = weights[last] ? weights.findIndex((w) => !w) : last;
      const why = wrong < 0 ? "All four neurons have weights."
        : `Neuron ${wrong + 1} has no weights: ${reason(task, gates[wrong], parts[wrong])}`;
      return {
        text: `${why} On these inputs a neuron can have ${Object.keys(found).length} of `
          + `${2 ** task.samples.length} gates.`,
      };
    },
  };
});
