"use strict";

/* A trained ReLU network on exclusive or with a margin, and the two gatings that it could imitate.
   The page holds the runs as JSON: {step, points, losses: {"margin log₁₀σ log₂H": [10⁻⁴, …]}}, without
   the zeros in which a curve ends. */
Figures.define("imitation", (figure) => {
  const { slider, panels, controls, result, legend, axes, power, range } = Figures;
  const data = Figures.data(figure);
  const END = data.step * (data.points - 1);
  const TIMES = range(data.points, 0, END);
  const MARGINS = range(101, 0, 2);
  const RUN_MARGINS = range(11, 0, 2);
  const GATINGS = [
    { pathways: 2, name: "two pathways, linear", colour: "c1" },
    { pathways: 4, name: "four pathways, exclusive or", colour: "c2" },
  ];

  const text = result();
  const update = () => draw();
  const margin = slider({
    name: "margin", label: "margin Δ", min: 0, max: 2, step: 0.2, value: 0.4, change: update,
    show: (value) => value.toFixed(1),
  });
  const scale = slider({
    name: "scale", label: "initial scale σ", min: -5, max: -2, step: 1, value: -4,
    change: update, show: (value) => power(10 ** value),
  });
  const hidden = slider({
    name: "hidden", label: "hidden neurons H", min: 5, max: 9, step: 2, value: 7, change: update,
    show: (value) => `${2 ** value}`,
  });
  const losses = axes({
    label: "Loss of the ReLU network and of the two gatings over time", title: "loss",
    describedBy: text.id, xLabel: "time (learning rate × step)", yLabel: "loss",
  });
  const halves = axes({
    label: "Time to half of the loss against the margin: the two gatings and ReLU networks",
    title: "half-loss time", describedBy: text.id, xLabel: "margin Δ", yLabel: "time",
  });

  function recorded(delta) {
    const run = data.losses[`${delta.toFixed(1)} ${scale.value} ${hidden.value}`];
    return TIMES.map((_, i) => (run[i] || 0) / 1e4);
  }

  function draw() {
    const size = [10 ** scale.value, 2 ** hidden.value];
    const lines = (points) => GATINGS.map(({ pathways, colour }) => ({
      name: `${pathways}`, colour, dash: pathways === 4, points: points(pathways),
    }));
    const relu = recorded(margin.value);
    const theory = (pathways) =>
      TIMES.map((t) => Theory.xorLoss(t, pathways, margin.value, ...size));
    losses.draw({
      x: [0, END], y: [0, 0.55],
      curves: [
        { name: "relu", colour: "ink wide", points: TIMES.map((t, i) => [t, relu[i]]) },
        ...lines((pathways) => theory(pathways).map((loss, i) => [TIMES[i], loss])),
      ],
    });
    const times = RUN_MARGINS.map((m) => Theory.halfTimeOf(recorded(m), data.step));
    halves.draw({
      x: [0, 2], y: [0, END],
      curves: lines((pathways) =>
        MARGINS.map((m) => [m, Theory.xorHalfTime(pathways, m, ...size)])),
      marks: [{ x: Theory.crossover, text: "Δ*" }],
      points: RUN_MARGINS.map((m, i) => ({
        x: m, y: times[i], colour: "ink", large: Math.abs(m - margin.value) < 0.01,
      })),
    });
    const errors = GATINGS.map(({ pathways }) => Theory.relativeError(theory(pathways), relu));
    text.textContent = describe(margin.value, size, errors);
  }

  function describe(delta, size, [two, four]) {
    const [first, second] = [2, 4].map((k) => Theory.xorHalfTime(k, delta, ...size));
    const linear = first < second;
    const side = linear ? "above" : "below";
    const faster = linear ? "linear gating (two pathways)" : "exclusive-or gating (four pathways)";
    const [near, far] = linear ? [two, four] : [four, two];
    const slower = linear ? "exclusive-or" : "linear";
    return `The margin ${delta.toFixed(1)} lies ${side} Δ* = ${Theory.crossover.toFixed(3)}, so the `
      + `${faster} learns faster. The ReLU network's loss curve differs from it by `
      + `${near.toFixed(2)}, and from the slower, ${slower} gating by ${far.toFixed(2)} (relative error).`;
  }

  figure.append(
    controls(margin, scale, hidden),
    legend([["ink wide", "ReLU network, trained", "line"], ...GATINGS.map(
      ({ name, colour, pathways }) => [colour, name, pathways === 4 ? "dash" : "line"])]),
    panels(losses.node, halves.node),
    text,
  );
  draw();
});
