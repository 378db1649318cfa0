"use strict";

/* The law of a context weight while no sample of its context is on: minus the running maximum of
   the item weights since then; null where one is on. */
Theory.heldWeight = ({ states, weights }, context, now, items) => {
  if (states[now].slice(context * items, (context + 1) * items).includes("x")) return null;
  const before = now > 0 ? Theory.heldWeight({ states, weights }, context, now - 1, items) : null;
  const highest = Math.max(...weights[now].slice(0, items));
  return Math.min(before ?? weights[now][items + context], -highest);
};

/* A neuron of a ReLU network in three contexts at a time of its gradient flow: its gate in three
   values, its item weights, and minus its context weights with the law of those that are off. The
   page holds {times, losses, neurons: [{states, weights}]}, losses and weights in 10⁻³ and a row for
   each time. */
Figures.define("sliding", ({ times, losses, neurons }, ui) => {
  const { svg, numbers } = Figures;
  const [ITEMS, CONTEXTS, SIZE] = [8, 3, 30];
  const KINDS = { o: "off", "/": "slides", x: "on" };
  const [width, height] = [46 + ITEMS * SIZE, CONTEXTS * SIZE + 24];

  const gate = svg("svg", {
    width, height, viewBox: `0 0 ${width} ${height}`, role: "img", class: "interactive-three",
    "aria-label": "Gate of the neuron: a row is a context, a column an item",
    "aria-describedby": ui.text.id,
  });

  function drawGate(rows) {
    gate.replaceChildren();
    numbers(ITEMS).forEach((i) => {
      gate.append(svg("text", { x: 28 + i * SIZE, y: 14, "text-anchor": "middle" }, i));
    });
    rows.forEach((row, context) => {
      const y = 20 + context * SIZE;
      gate.append(svg("text", { x: 2, y: y + SIZE / 2 + 4 }, `c = ${context + 1}`));
      row.forEach((kind, i) => gate.append(svg("rect", {
        x: 44 + i * SIZE, y, width: SIZE - 2, height: SIZE - 2, class: kind,
      })));
    });
  }

  function describe(now, rows) {
    const count = (kind) => rows.flat().filter((state) => state === kind).length;
    const off = numbers(CONTEXTS).filter((context) => !rows[context - 1].includes("on"));
    const where = off.length === 0 ? "It is off in no context."
      : `It is off in context ${off.join(" and ")}.`;
    return `At time ${times[now]} the loss is ${(losses[now] / 1000).toFixed(2)}. Of 24 samples `
      + `the neuron is on for ${count("on")}, slides along ${count("slides")} and is off for `
      + `${count("off")}. ${where}`;
  }

  return {
    sliders: {
      time: {
        label: "time", min: 0, max: times.length - 1, value: Math.round(0.7 * times.length),
        show: (now) => `${times[now]}`,
      },
      neuron: { label: "neuron, by weight", min: 1, max: neurons.length, value: 1 },
    },
    panels: {
      gate: { node: gate, series: { on: ["ink square", "on"], slides: ["c2 square", "slides"] } },
      weights: {
        label: "Item weights as dots, minus the context weights as lines",
        title: "item weights, and minus the context weights", xLabel: "item", yLabel: "weight",
        whole: true, height: 240, x: [0.5, ITEMS + 0.5],
        series: {
          item: ["ink dot", "item"],
          "context 1": ["c1", "context 1"],
          "context 2": ["c2", "context 2"],
          "context 3": ["c3", "context 3"],
          law: ["ink dash", "law"],
        },
      },
    },
    draw({ time: now, neuron }) {
      const { states, weights } = neurons[neuron - 1];
      const rows = numbers(CONTEXTS).map((context) =>
        [...states[now]].slice((context - 1) * ITEMS, context * ITEMS).map((sign) => KINDS[sign]));
      drawGate(rows);
      const turned = (w) => w.map((value, i) => (i < ITEMS ? value : -value) / 1000);
      const all = weights.flatMap(turned);
      const w = turned(weights[now]);
      const flat = (name, value) => [name, [[0.5, value], [ITEMS + 0.5, value]]];
      return {
        weights: {
          y: [Math.min(...all) - 0.05, Math.max(...all) + 0.05],
          curves: rows.flatMap((_, context) => {
            const law = Theory.heldWeight(neurons[neuron - 1], context, now, ITEMS);
            const curve = flat(`context ${context + 1}`, w[ITEMS + context]);
            return law === null ? [curve] : [curve, flat("law", -law / 1000)];
          }),
          points: numbers(ITEMS).map((i) => ["item", i, w[i - 1]]),
        },
        text: describe(now, rows),
      };
    },
  };
});
