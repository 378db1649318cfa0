"use strict";

/* A trained ReLU network on XOR with a margin, and the two gatings that it could imitate.
   The page holds the runs: {step, points, losses: {"margin log₁₀σ log₂H": [10⁻⁴, …]}, halves: {the
   same: time}}; the zeros in which a curve ends are left out, a time that is not reached is null. */
Figures.define("imitation", ({ step, points, losses, halves }) => {
  const { along, fixed, range } = Figures;
  const END = step * (points - 1);
  const TIMES = range(points, 0, END);
  const key = (margin, { scale, hidden }) => `${margin.toFixed(1)} ${scale} ${hidden}`;

  function describe(margin, size, [two, four]) {
    const linear = Theory.xorHalfTime(2, margin, ...size) < Theory.xorHalfTime(4, margin, ...size);
    const [near, far] = linear ? [two, four] : [four, two];
    const faster = linear ? "linear gating (two pathways)" : "XOR gating (four pathways)";
    return `The margin ${margin.toFixed(1)} lies ${linear ? "above" : "below"} Δ* = `
      + `${Theory.crossover.toFixed(3)}, so the ${faster} learns faster. The ReLU network's loss `
      + `curve differs from it by ${near.toFixed(2)}, and from the slower, `
      + `${linear ? "XOR" : "linear"} gating by ${far.toFixed(2)} (relative error).`;
  }

  return {
    choices: { network: { label: "the trained network:", names: ["concealed", "revealed"] } },
    sliders: {
      margin: { label: "margin Δ", min: 0, max: 2, step: 0.2, value: 0.4, show: fixed(1) },
      scale: Figures.scale(-5, -2, 1, -4),
      hidden: {
        label: "hidden neurons H", min: 5, max: 9, step: 2, value: 7, show: (h) => `${2 ** h}`,
      },
    },
    series: {
      relu: ["ink wide", "ReLU network, trained"],
      two: ["c1", "two pathways, linear"],
      four: ["c2 dash", "four pathways, XOR"],
    },
    panels: {
      losses: {
        label: "Loss of the ReLU network and of the two gatings over time", title: "loss",
        yLabel: "loss", x: [0, END], y: [0, 0.55],
      },
      halves: {
        label: "Time to half of the loss against the margin: the two gatings and ReLU networks",
        title: "half-loss time", xLabel: "margin Δ", yLabel: "time", x: [0, 2], y: [0, END],
        series: { run: ["ink"] },
      },
    },
    draw(values) {
      const { margin, scale, hidden, network } = values;
      const size = [10 ** scale, 2 ** hidden];
      const run = TIMES.map((_, i) => (losses[key(margin, values)][i] || 0) / 1e4);
      const theory = [2, 4].map((k) => TIMES.map((t) => Theory.xorLoss(t, k, margin, ...size)));
      const halfTimes = (k) => along(range(101, 0, 2), (m) => Theory.xorHalfTime(k, m, ...size));
      const over = (curve) => along(TIMES, (_, i) => curve[i]);
      const reached = along(range(11, 0, 2), (m) => halves[key(m, values)] ?? Infinity);
      const points = reached.map(([m, time]) => ["run", m, time, Math.abs(m - margin) < 0.01]);
      return {
        losses: {
          curves: [
            ...(network ? [["relu", over(run)]] : []),
            ["two", over(theory[0])], ["four", over(theory[1])],
          ],
        },
        halves: {
          curves: [["two", halfTimes(2)], ["four", halfTimes(4)]],
          marks: network ? [[Theory.crossover, "Δ*"]] : [],
          points: network ? points : [],
        },
        text: network
          ? describe(margin, size, theory.map((curve) => Theory.relativeError(curve, run)))
          : `At the margin ${margin.toFixed(1)}, which of the two will the trained network follow?`
            + " Place your bet, then reveal it.",
      };
    },
  };
});
