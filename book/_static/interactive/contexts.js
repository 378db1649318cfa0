"use strict";

Object.assign(Theory, (() => {
  const { choose, commonRate, deepMode, rawRate, residualRate } = Theory;

  /* Losses for a tree of n = 2, 4, 8, … items in every block, P = n C. Splits of the tree: their
     strength κ, and how many have it. */
  function treeSplits(items) {
    const splits = [];
    for (let size = items; size > 1; size /= 2) {
      splits.push({ kappa: Math.sqrt(size - 1), count: items / size });
    }
    return splits;
  }

  /* Modes of the common pathway: s, d and how many of each. */
  function commonModes(contexts, items) {
    const samples = contexts * items;
    const top = 2 * items - 1; // κ² of the constant pattern
    const both = items + contexts;
    const mean = Math.sqrt((both * top * (contexts + 1)) / samples / samples);
    return [
      { s: mean, d: both / samples, count: 1 },
      { s: Math.sqrt(items * top) / samples, d: items / samples, count: contexts - 1 },
      ...treeSplits(items).map(({ kappa, count }) => ({
        s: (kappa * commonRate(contexts)) / samples, d: contexts / samples, count,
      })),
    ];
  }

  /* Modes that all pathways on in k contexts learn together from what the common one leaves. There
     are C over k of them; the patterns of those that share a context add up, so that each feels
     da/dt = 2a(s - d a), d = (C-2 over k-1)/P. */
  function contextualModes(contexts, size, items) {
    const samples = contexts * items;
    return treeSplits(items).map(({ kappa, count }) => ({
      s: (kappa * residualRate(contexts, size)) / samples,
      raw: (kappa * rawRate(size)) / samples,
      common: (kappa * commonRate(contexts)) / samples,
      d: choose(contexts - 2, size - 1) / samples,
      count: count * choose(contexts, size),
    }));
  }

  /* The loss when contextual modes have these strengths; those of the common one are at time t. */
  function contextualLoss(t, contexts, size, items, commonStart, strength) {
    const gained = ({ s, d, count }, a) => count * (s * a - (d * a * a) / 2);
    let loss = Math.log2(items) + 1; // ½⟨‖y‖²⟩
    for (const mode of commonModes(contexts, items)) {
      loss -= gained(mode, deepMode(t, mode.s, mode.d, commonStart));
    }
    for (const mode of contextualModes(contexts, size, items)) loss -= gained(mode, strength(mode));
    return loss;
  }

  /* The loss if the others see, from the start, only what the common pathway will leave. With
     k = C-1 it is theory.contextual_closed_form. */
  const closedForm = (t, contexts, size, items, commonStart, start) =>
    contextualLoss(t, contexts, size, items, commonStart, ({ s, d }) => deepMode(t, s, d, start));

  /* Strength with the head start of the race law: at the raw rate until the common pathway has
     learned the split, T₀ = ln(1/a₀)/(2s), on the residual from then on. */
  function headStartMode(t, { s, d, raw, common }, start) {
    const handover = Math.log(1 / start) / (2 * common);
    if (t < handover) return start * Math.exp(2 * raw * t);
    return deepMode(t - handover, s, d, start ** (1 - raw / common));
  }

  const headStartLoss = (t, contexts, size, items, start) =>
    contextualLoss(t, contexts, size, items, start, (mode) => headStartMode(t, mode, start));

  return { contextualModes, closedForm, headStartMode, headStartLoss };
})());

/* Pathways on in k of C contexts: their rates, the race law, and the loss over time. */
Figures.define("contexts", () => {
  const { along, numbers, range } = Figures;
  const [ITEMS, HIDDEN] = [8, 100]; // items of a tree, neurons of a pathway

  function describe(C, k) {
    const sizes = numbers(C - 1);
    const winner = (m) => Theory.learningTime(C, m);
    const first = (value) => {
      const best = Math.min(...sizes.map(value));
      return sizes.filter((m) => value(m) < best + 1e-9).join(" or ");
    };
    return `In ${C} contexts, pathways on in ${k} have rate ${Theory.rawRate(k).toFixed(2)} on the `
      + `raw data and ${Theory.residualRate(C, k).toFixed(2)} on what the common pathway `
      + `(${Theory.commonRate(C).toFixed(2)}) leaves. They learn in ${winner(k).toFixed(3)} units `
      + `of time. The fastest are those on in ${first(winner)}, in ${winner(C - 1).toFixed(3)}; `
      + "without the head start it would be those on in "
      + `${first((m) => Theory.timeWithoutHeadStart(C, m))}.`;
  }

  return {
    sliders: Figures.contexts(-5),
    panels: {
      rates: {
        label: "Rates of pathways on in k contexts", title: "rate, per κ/P", height: 200,
        xLabel: "on in k contexts", yLabel: "rate s", whole: true,
        series: {
          raw: ["c1 dot", "on the raw data"],
          residual: ["c2 dash square", "on the residual"],
          common: ["c3", "common pathway"],
        },
      },
      law: {
        label: "The race law: time to learn against k", title: "time to learn", height: 200,
        xLabel: "on in k contexts", yLabel: "units of ln(1/a₀)/2", whole: true, y: [0, 1.6],
        series: { law: ["c1 dot", "race law"], late: ["c2 dash square", "no head start"] },
      },
      losses: {
        label: "Loss over time", title: "loss of the whole network", height: 220, wide: true,
        xLabel: "time (learning rate × step) / P", yLabel: "loss", y: [0, 4.2],
        series: {
          "head start": ["c1", "with the head start of the race law"],
          "closed form": ["c2 dash", "closed form: on the final residual from the start"],
        },
      },
    },
    draw({ contexts: C, size: k, scale }) {
      const start = Theory.expectedStart(HIDDEN, 10 ** scale);
      const ends = [0.5, C - 0.5];
      const both = (values) => {
        const curves = Object.entries(values).map(([name, value]) =>
          [name, along(numbers(C - 1), value)]);
        const points = curves.flatMap(([name, line]) =>
          line.map(([m, y]) => [name, m, y, m === k]));
        return { x: ends, curves, points };
      };
      const rates = both({ raw: Theory.rawRate, residual: (m) => Theory.residualRate(C, m) });
      rates.curves.push(["common", along(ends, () => Theory.commonRate(C))]);
      const samples = C * ITEMS;
      const unit = Math.log(1 / start) / 2 / Math.sqrt(ITEMS - 1); // per P, κ of the first split
      const end = 0.4 * Math.log(1 / start);
      const over = (loss) =>
        along(range(241, 0, end), (t) => loss(t * samples, C, k, ITEMS, start));
      return {
        rates: { ...rates, y: [0, C + 1.5] },
        law: both({
          law: (m) => Theory.learningTime(C, m), late: (m) => Theory.timeWithoutHeadStart(C, m),
        }),
        losses: {
          x: [0, end],
          curves: [
            ["head start", over(Theory.headStartLoss)],
            ["closed form", over((...setting) => Theory.closedForm(...setting, start))],
          ],
          marks: [[unit * Theory.learningTime(C, k), "Tₖ of the halves"]],
        },
        text: describe(C, k),
      };
    },
  };
});
