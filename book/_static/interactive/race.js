"use strict";

/* Exclusive or with a margin: the closed-form loss curves of the two gatings, and who wins. */
Figures.define("race", (figure) => {
  const { slider, panels, controls, result, legend, axes, power, range } = Figures;
  const END = 50; // of both time axes
  const MARGINS = range(126, 0, 2.5);
  const TIMES = range(251, 0, END);
  const GATINGS = [
    { pathways: 2, name: "linear gating, two pathways", colour: "c1" },
    { pathways: 4, name: "exclusive-or gating, four pathways", colour: "c2" },
  ];

  const text = result();
  const update = () => draw();
  const margin = slider({
    name: "margin", label: "margin Δ", min: 0, max: 2.5, step: 0.05, value: 0.5, change: update,
    show: (value) => value.toFixed(2),
  });
  const scale = slider({
    name: "scale", label: "initial scale σ", min: -6, max: -2, step: 0.1, value: -3.7,
    change: update, show: (value) => power(10 ** value),
  });
  const hidden = slider({
    name: "hidden", label: "hidden neurons H", min: 2, max: 10, step: 1, value: 7, change: update,
    show: (value) => `${2 ** value}`,
  });
  const losses = axes({
    label: "Loss of the two gatings over time", title: "loss", describedBy: text.id,
    xLabel: "time (learning rate × step)", yLabel: "loss",
  });
  const halves = axes({
    label: "Time to half of the loss against the margin, for the two gatings",
    title: "half-loss time", describedBy: text.id, xLabel: "margin Δ", yLabel: "time",
  });

  function draw() {
    const setting = [margin.value, 10 ** scale.value, 2 ** hidden.value];
    const times = GATINGS.map(({ pathways }) => Theory.xorHalfTime(pathways, ...setting));
    losses.draw({
      x: [0, END], y: [0, 0.55],
      curves: GATINGS.map(({ pathways, colour }) => ({
        name: `${pathways}`, colour, dash: pathways === 4,
        points: TIMES.map((t) => [t, Theory.xorLoss(t, pathways, ...setting)]),
      })),
    });
    halves.draw({
      x: [0, 2.5], y: [0, END],
      curves: GATINGS.map(({ pathways, colour }) => ({
        name: `${pathways}`, colour, dash: pathways === 4,
        points: MARGINS.map((m) => [m, Theory.xorHalfTime(pathways, m, ...setting.slice(1))]),
      })),
      marks: [{ x: Theory.crossover, text: "Δ*" }],
      points: GATINGS.map(({ colour, pathways }, index) => ({
        x: margin.value, y: times[index], colour, square: pathways === 4, large: true,
      })),
    });
    text.textContent = describe(margin.value, times);
  }

  function describe(delta, [two, four]) {
    const winner = four < two ? "exclusive-or gating (four pathways)" : "linear gating (two pathways)";
    const loser = four < two ? "linear one" : "exclusive-or one";
    const side = delta < Theory.crossover ? "below" : "above";
    const slow = Math.max(two, four);
    const rest = Number.isFinite(slow)
      ? `the ${loser} at time ${slow.toFixed(1)}` : `the ${loser} never`;
    return `The ${winner} wins: it halves its loss at time ${Math.min(two, four).toFixed(1)}, ${rest}. `
      + `The margin ${delta.toFixed(2)} lies ${side} the crossover Δ* = ${Theory.crossover.toFixed(3)}.`;
  }

  figure.append(
    controls(margin, scale, hidden),
    legend(GATINGS.map(({ name, colour, pathways }) => [colour, name, pathways === 4 ? "dash" : "line"])),
    panels(losses.node, halves.node),
    text,
  );
  draw();
});
