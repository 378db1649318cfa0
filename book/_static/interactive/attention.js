"use strict";

/* Attention against a look-up table: which part of its own drop of the loss each has made, trained
   and predicted, and both rates. The page holds {dims, tokens, runs: {"p B K": {end, first, trained,
   predicted}}}: drops in percent at equal steps up to `end`, attention first; `first` is the number
   of the one that made a quarter of its drop first in training. */
Figures.define("attention", ({ dims, tokens, runs }) => {
  const { fixed, range } = Figures;
  const NAMES = { context: "attention", weights: "the look-up table" };
  const SIDES = Object.keys(NAMES);
  const rates = (p, B, K) => [
    (B / tokens - (1 - p) * (1 - B / tokens) / (K - 1)) * Math.sqrt(1 / dims + 1 / K - 1 / (K * dims)),
    (1 - p) / Math.sqrt(K),
  ];
  const flip = (B, K) => {
    const S = Math.sqrt(1 + (K - 1) / dims);
    return 1 - ((B / tokens) * S) / (1 + (S / (K - 1)) * (1 - B / tokens));
  };
  const points = (drops, end) => range(drops.length, 0, end).map((t, i) => [t, drops[i] / 100]);

  function describe([inContext, inWeights], at, first) {
    const faster = NAMES[SIDES[inContext > inWeights ? 0 : 1]];
    const where = at > 0
      ? `The rates are equal at p* = ${at.toFixed(2)}.`
      : "Attention has the larger rate for every p.";
    return `Rates: ${inContext.toFixed(3)} in context, ${inWeights.toFixed(3)} in weights. `
      + `So by the formula ${faster} wins. ${where} In training ${NAMES[SIDES[first]]} made a quarter of its drop first.`;
  }

  return {
    sliders: {
      p: { label: "probability p of new labels", min: 0.1, max: 0.9, step: 0.1, value: 0.3, show: fixed(1) },
      copies: { label: `copies B among N = ${tokens} tokens`, min: 1, max: 3, value: 2 },
      classes: { label: "classes K", min: 4, max: 6, value: 5, show: (k) => `${2 ** k}` },
    },
    series: {
      context: ["c1", "attention, in context"],
      weights: ["c2 dash", "look-up table, in weights"],
    },
    panels: {
      drops: {
        label: "Part of its own drop that each has made over time", title: "learned, alone",
        yLabel: "part of its drop", x: [0, 1], y: [0, 1.05],
      },
      rates: {
        label: "Rates of attention and look-up table against p", title: "rates",
        xLabel: "probability p of new labels", yLabel: "rate s", x: [0, 1], y: [0, 0.26],
      },
    },
    draw({ p, copies, classes }) {
      const K = 2 ** classes;
      const { end, first, trained, predicted } = runs[`${p.toFixed(1)} ${copies} ${K}`];
      const [now, at] = [rates(p, copies, K), flip(copies, K)];
      const ends = range(2, 0, 1).map((chance) => [chance, rates(chance, copies, K)]);
      return {
        drops: {
          x: [0, end],
          curves: SIDES.map((name, i) => [name, points(predicted[i], end)]),
          points: SIDES.flatMap((name, i) => points(trained[i], end)
            .filter((_, k) => k % 2 === 0).map(([t, part]) => [name, t, part])),
        },
        rates: {
          curves: SIDES.map((name, i) => [name, ends.map(([chance, both]) => [chance, both[i]])]),
          marks: at > 0 ? [[at, "p*"]] : [],
          points: SIDES.map((name, i) => [name, p, now[i], true]),
        },
        text: describe(now, at, first),
      };
    },
  };
});
