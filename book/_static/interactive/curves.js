"use strict";

/* Learning curves of a balanced mode with one to five weight layers, and their half times. */
Figures.define("curves", () => {
  const { along, exponent, fixed, range } = Figures;
  const D = 0.25; // of the four items
  const EXPONENTS = [-5, -1]; // of a₀
  const CLOSE = 0.9999; // share of s/d where a curve ends

  const timesOf = (shares, layers, start, rate) =>
    Theory.depthTimes(shares, rate, D, 10 ** start, layers);
  const halfTime = (...setting) => timesOf([0.5], ...setting)[0];

  /* At evenly spaced logits, from a₀ to nearly s/d. */
  function curve(end, layers, start, rate) {
    const begin = (10 ** start * D) / rate;
    const logits = range(120, Math.log(begin / (1 - begin)), Math.log(CLOSE / (1 - CLOSE)));
    const shares = logits.map((y) => 1 / (1 + Math.exp(-y)));
    const times = timesOf(shares, layers, start, rate);
    return [...shares.map((share, i) => [times[i], share]), [Math.max(end, times[119]), CLOSE]];
  }

  function describe(layers, start, rate) {
    const half = halfTime(layers, start, rate);
    const later = halfTime(layers, start - 1, rate);
    const wait = layers === 1 ? "without a plateau: a tenth is learned at"
      : "after a plateau: a tenth is not learned before";
    const change = layers > 2 ? `${(later / half).toFixed(1)} times as late`
      : `later by ${(later - half).toFixed(2)}${layers > 1 ? ", about ln 10/(2s)" : ""}`;
    return `With ${layers} weight layer${layers > 1 ? "s" : ""} the mode is half learned at time `
      + `${half.toFixed(1)}, ${wait} time ${timesOf([0.1], layers, start, rate)[0].toFixed(1)}. `
      + "From a tenth of this a₀ it would be half learned at time "
      + `${later.toFixed(1)}, ${change}.`;
  }

  return {
    sliders: {
      depth: { label: "weight layers L", min: 1, max: 5, value: 2 },
      start: {
        label: "initial strength a₀", min: -5, max: -1, step: 0.1, value: -3, show: exponent,
      },
      rate: {
        label: "singular value s", min: 0.2, max: 1, step: 0.05, value: 0.65, show: fixed(2),
      },
    },
    series: {
      chosen: ["c1", "the chosen depth"],
      others: ["soft", "the other depths: from left to right more layers"],
    },
    panels: {
      strengths: {
        label: "Strength of a mode over time, for one to five weight layers",
        title: "strength, share of s/d", yLabel: "strength", y: [0, 1.05],
      },
      halves: {
        label: "Half time of the mode against the logarithm of its initial strength",
        title: "half time", xLabel: "log₁₀ a₀", yLabel: "time", x: EXPONENTS,
      },
    },
    draw({ depth, start, rate }) {
      const half = halfTime(depth, start, rate);
      let end = 30; // of both time axes
      while (end < 1.4 * half) end *= 2;
      const others = [1, 2, 3, 4, 5].filter((layers) => layers !== depth);
      const order = [...others, depth]; // the last is on top
      const all = (points) =>
        order.map((layers) => [`L${layers}`, points(layers), layers === depth ? "c1" : "soft"]);
      return {
        strengths: {
          x: [0, end], curves: all((layers) => curve(end, layers, start, rate)),
          marks: [[half, "half time"]], points: [["chosen", half, 0.5, true]],
        },
        halves: {
          y: [0, end], points: [["chosen", start, half, true]],
          curves: all((layers) =>
            along(range(41, ...EXPONENTS), (each) => halfTime(layers, each, rate))),
        },
        text: describe(depth, start, rate),
      };
    },
  };
});
