"use strict";

/* Exclusive or with a margin: the closed-form loss curves of the two gatings, and who wins. */
Figures.define("race", () => {
  const { along, fixed, range } = Figures;
  const END = 50; // of both time axes
  const PATHWAYS = { two: 2, four: 4 };
  const both = (xs, value) =>
    Object.entries(PATHWAYS).map(([name, count]) => [name, along(xs, (x) => value(x, count))]);

  function describe(margin, [two, four]) {
    const [winner, loser] = four < two
      ? ["exclusive-or gating (four pathways)", "linear one"]
      : ["linear gating (two pathways)", "exclusive-or one"];
    const side = margin < Theory.crossover ? "below" : "above";
    const slow = Math.max(two, four);
    const rest = Number.isFinite(slow) ? `at time ${slow.toFixed(1)}` : "never";
    return `The ${winner} wins: it halves its loss at time ${Math.min(two, four).toFixed(1)}, the `
      + `${loser} ${rest}. The margin ${margin.toFixed(2)} lies ${side} the crossover `
      + `Δ* = ${Theory.crossover.toFixed(3)}.`;
  }

  return {
    sliders: {
      margin: { label: "margin Δ", min: 0, max: 2.5, step: 0.05, value: 0.5, show: fixed(2) },
      scale: Figures.scale(-6, -2, 0.1, -3.7),
      hidden: { label: "hidden neurons H", min: 2, max: 10, value: 7, show: (h) => `${2 ** h}` },
    },
    series: {
      two: ["c1", "linear gating, two pathways"],
      four: ["c2 dash", "exclusive-or gating, four pathways"],
    },
    panels: {
      losses: {
        label: "Loss of the two gatings over time", title: "loss", yLabel: "loss",
        x: [0, END], y: [0, 0.55],
      },
      halves: {
        label: "Time to half of the loss against the margin, for the two gatings",
        title: "half-loss time", xLabel: "margin Δ", yLabel: "time", x: [0, 2.5], y: [0, END],
      },
    },
    draw({ margin, scale, hidden }) {
      const size = [10 ** scale, 2 ** hidden];
      const halfTime = (m, pathways) => Theory.xorHalfTime(pathways, m, ...size);
      const times = [2, 4].map((pathways) => halfTime(margin, pathways));
      return {
        losses: {
          curves: both(range(251, 0, END), (t, k) => Theory.xorLoss(t, k, margin, ...size)),
        },
        halves: {
          curves: both(range(126, 0, 2.5), halfTime),
          marks: [[Theory.crossover, "Δ*"]],
          points: [["two", margin, times[0], true], ["four", margin, times[1], true]],
        },
        text: describe(margin, times),
      };
    },
  };
});
