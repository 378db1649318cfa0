"use strict";

/* Exclusive or with a margin, two or four pathways that share H hidden neurons; recorded losses. */
Object.assign(Theory, (() => {
  const { deepMode, modeTime, expectedStart } = Theory;

  const crossover = Math.sqrt(2 / 3); // Δ*

  /* Mode of each pathway: s, d, its start, and the output `root` of a mode of strength 1. */
  function xorMode(pathways, margin, sigma, hidden) {
    const root = pathways === 2 ? margin : Math.sqrt(2 + margin * margin);
    const start = expectedStart(hidden / pathways, sigma);
    return { s: root / pathways, d: (root * root) / pathways, root, start };
  }

  /* ½(1 - a(t) root)² (MHS Eqs. 22 and 23). */
  function xorLoss(t, pathways, margin, sigma, hidden) {
    const { s, d, root, start } = xorMode(pathways, margin, sigma, hidden);
    return (1 - deepMode(t, s, d, start) * root) ** 2 / 2;
  }

  /* Time at which the loss is half of what it was at time 0. */
  function xorHalfTime(pathways, margin, sigma, hidden) {
    const { s, d, root, start } = xorMode(pathways, margin, sigma, hidden);
    if (root === 0) return Infinity;
    return modeTime((1 - (1 - start * root) * Math.SQRT1_2) / root, s, d, start);
  }

  /* How far a curve is from a reference, Σ|L - L_ref| / Σ L_ref. */
  function relativeError(losses, reference) {
    const total = (values) => values.reduce((sum, value) => sum + value, 0);
    return total(losses.map((loss, i) => Math.abs(loss - reference[i]))) / total(reference);
  }

  /* Time at which a recorded falling loss is half of what it was first; infinite if it never is. */
  function halfTimeOf(losses, step) {
    const level = losses[0] / 2;
    const after = losses.findIndex((loss) => loss <= level);
    if (after < 0) return Infinity;
    const share = (losses[after - 1] - level) / (losses[after - 1] - losses[after]);
    return step * (after - 1 + share);
  }

  return { crossover, xorMode, xorLoss, xorHalfTime, relativeError, halfTimeOf };
})());
