"use strict";

/* The book's formulas as pure functions; no page is needed. Here are those that several figures
   share; other scripts add those of one or two. The tests hold all of them against the package `mdsgdln`. */
var Theory = (() => {
  /* ---- One mode of a network with one hidden layer ---- */

  /* a(t) of da/dt = 2a(s - d a), a(0) = start (MHS Eqs. 7 and 18); s = 0 is the limit. */
  function deepMode(t, s, d, start) {
    const filled = s > 0 ? -Math.expm1(-2 * s * t) / s : 2 * t; // (1 - exp(-2st)) / s
    return start / (Math.exp(-2 * s * t) + start * d * filled);
  }

  /* Time at which the mode passes a height between its start and s/d; infinite if it does not. */
  function modeTime(height, s, d, start) {
    if (height <= start) return 0;
    if (!(s > d * height)) return Infinity;
    return Math.log((height * (s - d * start)) / (start * (s - d * height))) / (2 * s);
  }

  /* H σ²/2: effective start of every mode of H neurons with weights of standard deviation σ. */
  function expectedStart(hidden, sigma) {
    return (hidden * sigma * sigma) / 2;
  }

  /* ---- Items in contexts ---- */

  /* Pathways on in k of C contexts; rates per κ/P. */
  const commonRate = (contexts) => Math.sqrt(contexts * (contexts + 1));
  const rawRate = (size) => Math.sqrt(size * (size + 1));
  const residualRate = (contexts, size) => Math.sqrt((size * (contexts - size)) / contexts);

  return {
    deepMode, modeTime, expectedStart, commonRate, rawRate, residualRate,
  };
})();
