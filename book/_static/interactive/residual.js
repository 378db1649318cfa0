"use strict";

/* Losses on items in contexts: a tree of n items in every block, P = n C. */
Object.assign(Theory, (() => {
  const { choose, commonRate, rawRate, residualRate, deepMode } = Theory;

  /* Splits of a balanced binary tree of n = 2, 4, 8, … items: strength κ, how many of it. */
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
    const splits = treeSplits(items).map(({ kappa, count }) => ({
      s: (kappa * commonRate(contexts)) / samples,
      d: contexts / samples,
      count,
    }));
    const mean = Math.sqrt(((items + contexts) * top * (contexts + 1)) / contexts / items / samples);
    return [
      { s: mean, d: (items + contexts) / samples, count: 1 },
      { s: Math.sqrt(items * top) / samples, d: items / samples, count: contexts - 1 },
      ...splits,
    ];
  }

  /* Modes that all pathways on in k contexts learn together from what the common one leaves.
     There are C over k of them; the patterns of those that share a context add up, so that each
     feels da/dt = 2a(s - stop a), stop = (C-2 over k-1)/P. */
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

  const gained = (mode, a) => mode.count * (mode.s * a - (mode.d * a * a) / 2);

  function contextualLoss(t, contexts, items, commonStart, modes, strength) {
    let loss = Math.log2(items) + 1; // ½⟨‖y‖²⟩
    for (const mode of commonModes(contexts, items)) {
      loss -= gained(mode, deepMode(t, mode.s, mode.d, commonStart));
    }
    for (const mode of modes) loss -= gained(mode, strength(mode));
    return loss;
  }

  /* Loss if the others see, from the start, only what the common pathway will leave. With k = C-1
     it is theory.contextual_closed_form. */
  function closedForm(t, contexts, size, items, commonStart, contextualStart) {
    const modes = contextualModes(contexts, size, items);
    const strength = (mode) => deepMode(t, mode.s, mode.d, contextualStart);
    return contextualLoss(t, contexts, items, commonStart, modes, strength);
  }

  /* Strength with the head start of the race law: at the raw rate until the common pathway has
     learned the split, T₀ = ln(1/a₀)/(2s), on the residual from then on. */
  function headStartMode(t, mode, start) {
    const handover = Math.log(1 / start) / (2 * mode.common);
    if (t < handover) return start * Math.exp(2 * mode.raw * t);
    return deepMode(t - handover, mode.s, mode.d, start ** (1 - mode.raw / mode.common));
  }

  function headStartLoss(t, contexts, size, items, start) {
    const modes = contextualModes(contexts, size, items);
    const strength = (mode) => headStartMode(t, mode, start);
    return contextualLoss(t, contexts, items, start, modes, strength);
  }

  return {
    treeSplits, commonModes, contextualModes, closedForm, headStartMode, headStartLoss,
  };
})());
