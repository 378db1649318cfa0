"use strict";

/* Strengths of a deep linear network's modes (MHS Eq. 7), and their half times against σ. The page
   holds {hidden, modes: [{name, s, d}]}. */
Figures.define("modes", ({ hidden, modes }) => {
  const { along, fixed, range, scale } = Figures;
  const END = 60; // of the time axes
  const EXPONENTS = [-6, -1.5]; // of σ
  const STYLES = ["c1", "c2 dash", "c3"];

  const startAt = (exponent) => Theory.expectedStart(hidden, 10 ** exponent);
  const halfTime = ({ s, d }, exponent) => Theory.modeTime(s / d / 2, s, d, startAt(exponent));

  return {
    sliders: { scale: scale(...EXPONENTS, 0.1, -3) },
    series: Object.fromEntries(modes.map(({ name }, i) => [name, [STYLES[i], name]])),
    panels: {
      strengths: {
        label: "Strength of the modes over time", title: "strength", yLabel: "strength",
        x: [0, END], y: [0, 3],
      },
      halves: {
        label: "Time at which each mode is half learned, against the logarithm of σ",
        title: "half time", xLabel: "log₁₀ σ", yLabel: "time", x: EXPONENTS, y: [0, END],
      },
    },
    draw({ scale: exponent }) {
      const start = startAt(exponent);
      const times = modes.map((mode) => halfTime(mode, exponent));
      const said = modes.map(({ name }, i) => `${name} at time ${fixed(1)(times[i])}`);
      return {
        strengths: {
          curves: modes.map(({ name, s, d }) =>
            [name, along(range(301, 0, END), (t) => Theory.deepMode(t, s, d, start))]),
        },
        halves: {
          curves: modes.map((mode) =>
            [mode.name, along(range(46, ...EXPONENTS), (each) => halfTime(mode, each))]),
          points: modes.map(({ name }, i) => [name, exponent, times[i], true]),
        },
        text: `Half learned: ${said.join("; ")}.`,
      };
    },
  };
});
