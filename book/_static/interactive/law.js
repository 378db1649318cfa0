"use strict";

/* The race law of pathways that are active in k of C contexts. */
Object.assign(Theory, (() => {
  const { commonRate, rawRate, residualRate } = Theory;

  /* The race law: time to learn in units of ln(1/a₀)/2 and per κ/P. */
  function learningTime(contexts, size) {
    const common = commonRate(contexts);
    return 1 / common + (1 - rawRate(size) / common) / residualRate(contexts, size);
  }

  /* The same if pathways did not grow while the common one learns. */
  function timeWithoutHeadStart(contexts, size) {
    return 1 / commonRate(contexts) + 1 / residualRate(contexts, size);
  }

  function choose(n, k) {
    if (k < 0) return 0;
    let ways = 1;
    for (let i = 1; i <= k; i++) ways = (ways * (n - k + i)) / i;
    return Math.round(ways);
  }

  return { learningTime, timeWithoutHeadStart, choose };
})());
