"use strict";

/* Strengths of a deep linear network's modes (MHS Eq. 7), and their half times against σ. The page
   holds the modes as JSON: {hidden, modes: [{name, s, d}]}. */
Figures.define("modes", (figure) => {
  const { slider, panels, controls, result, legend, axes, power, range } = Figures;
  const { hidden, modes } = Figures.data(figure);
  const END = 60; // of the time axes
  const EXPONENTS = [-6, -1.5]; // of σ
  const TIMES = range(301, 0, END);
  const COLOURS = ["c1", "c2", "c3"];

  const text = result();
  const scale = slider({
    name: "scale", label: "initial scale σ", min: EXPONENTS[0], max: EXPONENTS[1], step: 0.1,
    value: -3, change: () => draw(), show: (value) => power(10 ** value),
  });
  const strengths = axes({
    label: "Strength of the modes over time", title: "strength", describedBy: text.id,
    xLabel: "time (learning rate × step)", yLabel: "strength",
  });
  const halves = axes({
    label: "Time at which each mode is half learned, against the logarithm of σ",
    title: "half time", describedBy: text.id, xLabel: "log₁₀ σ", yLabel: "time",
  });

  const startAt = (exponent) => Theory.expectedStart(hidden, 10 ** exponent);
  const halfTime = ({ s, d }, exponent) => Theory.modeTime(s / d / 2, s, d, startAt(exponent));

  function draw() {
    const times = modes.map((mode) => halfTime(mode, scale.value));
    strengths.draw({
      x: [0, END], y: [0, 3],
      curves: modes.map(({ name, s, d }, index) => ({
        name, colour: COLOURS[index], dash: index === 1,
        points: TIMES.map((t) => [t, Theory.deepMode(t, s, d, startAt(scale.value))]),
      })),
    });
    halves.draw({
      x: EXPONENTS, y: [0, END],
      curves: modes.map((mode, index) => ({
        name: mode.name, colour: COLOURS[index], dash: index === 1,
        points: range(46, ...EXPONENTS).map((exponent) => [exponent, halfTime(mode, exponent)]),
      })),
      points: times.map((time, index) => ({
        x: scale.value, y: time, colour: COLOURS[index], square: index === 1, large: true,
      })),
    });
    const said = modes.map(({ name }, index) => `${name} at time ${times[index].toFixed(1)}`);
    text.textContent = `Half learned: ${said.join("; ")}.`;
  }

  figure.append(
    controls(scale),
    legend(modes.map(({ name }, index) => [COLOURS[index], name, index === 1 ? "dash" : "line"])),
    panels(strengths.node, halves.node),
    text,
  );
  draw();
});
