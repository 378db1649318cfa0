"use strict";

/* A neuron of a ReLU network in three contexts at a time of its gradient flow: its gate in three
   values, its item weights, and minus its context weights with the law of those that are off. */
Figures.define("sliding", (figure) => {
  const { html, svg, slider, panels, controls, result, legend, axes, range } = Figures;
  const data = Figures.data(figure);
  const { times, losses, neurons } = data;
  const [ITEMS, CONTEXTS, SIZE] = [8, 3, 30];
  const COLOURS = ["c1", "c2", "c3"];

  const text = result();
  const time = slider({
    name: "time", label: "time", min: 0, max: times.length - 1, step: 1,
    value: Math.round(0.7 * times.length), show: (value) => `${times[value]}`, change: () => draw(),
  });
  const chosen = slider({
    name: "neuron", label: "neuron, by weight", min: 1, max: neurons.length, step: 1, value: 1,
    change: () => draw(),
  });
  const gate = svg("svg", {
    width: 46 + ITEMS * SIZE, height: CONTEXTS * SIZE + 24, role: "img", class: "interactive-three",
    viewBox: `0 0 ${46 + ITEMS * SIZE} ${CONTEXTS * SIZE + 24}`, "aria-describedby": text.id,
    "aria-label": "Gate of the neuron: a row is a context, a column an item",
  });
  const weights = axes({
    label: "Item weights as dots, minus the context weights as lines", describedBy: text.id,
    title: "item weights, and minus the context weights", xLabel: "item", yLabel: "weight",
    whole: true, height: 240,
  });

  function draw() {
    const [now, neuron] = [time.value, neurons[chosen.value - 1]];
    const states = neuron.states[now];
    const at = (context, i) => states[context * ITEMS + i];
    const all = neuron.weights.flatMap((w) => [...w.slice(0, ITEMS), ...w.slice(ITEMS).map((c) => -c)]);
    const w = neuron.weights[now].map((value) => value / 1000);
    const cells = [];
    const curves = [];
    for (let context = 0; context < CONTEXTS; context++) {
      const y = 20 + context * SIZE;
      cells.push(svg("text", { x: 2, y: y + SIZE / 2 + 4 }, `c = ${context + 1}`));
      for (let i = 0; i < ITEMS; i++) {
        const kind = { o: "off", "/": "slides", x: "on" }[at(context, i)];
        cells.push(svg("rect", {
          x: 44 + i * SIZE, y, width: SIZE - 2, height: SIZE - 2, class: kind, "data-state": kind,
        }));
      }
      const law = Theory.heldWeight(neuron, context, now, ITEMS);
      const flat = (value) => [[0.5, value], [ITEMS + 0.5, value]];
      curves.push({ name: `context ${context + 1}`, colour: COLOURS[context],
        points: flat(-w[ITEMS + context]) });
      if (law !== null) {
        curves.push({ name: `law ${context + 1}`, colour: "ink", dash: true,
          points: flat(-law / 1000) });
      }
    }
    for (let i = 0; i < ITEMS; i++) {
      cells.push(svg("text", { x: 44 + (i + 0.5) * SIZE - 1, y: 14, "text-anchor": "middle" }, i + 1));
    }
    gate.replaceChildren(...cells);
    weights.draw({
      x: [0.5, ITEMS + 0.5],
      y: [Math.min(...all) / 1000 - 0.05, Math.max(...all) / 1000 + 0.05],
      curves,
      points: range(ITEMS, 1, ITEMS).map((i) => ({ x: i, y: w[i - 1], colour: "ink" })),
    });
    const count = (kind) => [...states].filter((state) => state === kind).length;
    const off = range(CONTEXTS, 0, CONTEXTS - 1)
      .filter((context) => range(ITEMS, 0, ITEMS - 1).every((i) => at(context, i) !== "x"));
    const where = off.length === 0 ? "It is off in no context."
      : `It is off in context ${off.map((context) => context + 1).join(" and ")}.`;
    text.textContent = `At time ${times[now]} the loss is ${(losses[now] / 1000).toFixed(2)}. Of 24 `
      + `samples the neuron is on for ${count("x")}, slides along ${count("/")} and is off for `
      + `${count("o")}. ${where}`;
  }

  figure.append(
    controls(time, chosen),
    panels(
      html("div", {}, gate, legend([["ink", "on", "square"], ["c2", "slides", "square"]])),
      html("div", {}, weights.node, legend([
        ["ink", "item", "dot"], ["c1", "context 1", "line"], ["c2", "context 2", "line"],
        ["c3", "context 3", "line"], ["ink", "law", "dash"]]))),
    text,
  );
  draw();
});
