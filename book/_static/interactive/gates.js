"use strict";

/* Formulas of the gate of a ReLU neuron, held against the package's `gates`: a pattern is an array
   of rows (items) of 0 or 1. */
Object.assign(Theory, (() => {
  const patternOf = (a, b) => a.map((item) => b.map((context) => Number(item + context > 0)));

  /* Rows i, j and columns c, d that cut out a permutation matrix, or null: then it is realisable. */
  function forbiddenPart(pattern) {
    for (let i = 0; i < pattern.length; i++) {
      for (let j = i + 1; j < pattern.length; j++) {
        const only = (one, other) => pattern[one].findIndex((on, c) => on && !pattern[other][c]);
        const [c, d] = [only(i, j), only(j, i)];
        if (c >= 0 && d >= 0) return { items: [i, j], contexts: [c, d] };
      }
    }
    return null;
  }

  /* Weights that have a realisable pattern, the proof's, moved towards zero. */
  function weightsOf(pattern) {
    const contexts = pattern[0].length;
    const sizes = pattern.map((row) => row.reduce((sum, on) => sum + on, 0));
    const shift = contexts / 2;
    const b = pattern[0].map((_, c) => {
      const on = sizes.filter((_, i) => pattern[i][c]);
      return shift + (on.length ? 0.5 - Math.min(...on) : -contexts);
    });
    return { a: sizes.map((size) => size - shift), b };
  }

  /* How many patterns are realisable: a poly-Bernoulli number. */
  function countRealisable(items, contexts) {
    const row = (size) => {
      let partitions = [1];
      for (let m = 1; m <= size; m++) {
        partitions = Array.from({ length: m + 1 }, (_, j) =>
          (partitions[j - 1] || 0) + j * (partitions[j] || 0));
      }
      return partitions;
    };
    const [first, second] = [row(items + 1), row(contexts + 1)];
    let total = 0;
    let factorial = 1;
    for (let j = 0; j <= Math.min(items, contexts); j++) {
      factorial *= Math.max(j, 1);
      total += factorial * factorial * first[j + 1] * second[j + 1];
    }
    return total;
  }

  const dot = (x, y) => x.reduce((sum, value, i) => sum + value * y[i], 0);
  const length = (x) => Math.sqrt(dot(x, x));
  const times = (matrix, x) => matrix.map((row) => dot(row, x));
  const transposed = (matrix, x) => matrix[0].map((_, j) => dot(matrix.map((row) => row[j]), x));

  /* A: weights (items, contexts) to Σ r h, a row per target block, for a neuron that keeps this
     gate. r is what the common pathway leaves of the split of the items into two halves. */
  function driveMatrix(pattern) {
    const [items, contexts] = [pattern.length, pattern[0].length];
    const sign = (i) => (i < items / 2 ? 1 : -1) / Math.sqrt(items);
    return pattern[0].map((_, block) => {
      const left = (i, c) => pattern[i][c] * sign(i) * (Number(c === block) - 1 / contexts);
      const perItem = pattern.map((row, i) => row.reduce((sum, _, c) => sum + left(i, c), 0));
      const perContext = pattern[0].map((_, c) => pattern.reduce((sum, _, i) => sum + left(i, c), 0));
      return [...perItem, ...perContext];
    });
  }

  /* Drive of the best linear neuron that gets its gate for free: on in k of C contexts. */
  const freeDrive = (contexts) => Theory.residualRate(contexts, Math.floor(contexts / 2));

  /* The nearest weights with a_i + b_c >= 0 where on, <= 0 where off: Hildreth's projections. */
  function nearestWithGate(weights, pattern) {
    const items = pattern.length;
    const moved = [...weights];
    const pushes = pattern.map((row) => row.map(() => 0));
    for (let sweep = 0, change = 1; sweep < 3000 && change > 1e-15; sweep++) {
      change = 0;
      pattern.forEach((row, i) => row.forEach((on, c) => {
        const side = on ? 1 : -1;
        const push = Math.max(0, pushes[i][c] - (side * (moved[i] + moved[items + c])) / 2);
        const step = side * (push - pushes[i][c]);
        moved[i] += step;
        moved[items + c] += step;
        pushes[i][c] = push;
        change = Math.max(change, Math.abs(step));
      }));
    }
    return moved;
  }

  /* Largest drive ‖A w‖/‖w‖ of weights that hold the gate, over that of the best gate for free. For
     a direction z of the answer the best weights are the nearest ones to Aᵀz; z then turns to their
     answer, and the drive never falls. */
  function bestDrive(pattern) {
    const matrix = driveMatrix(pattern);
    const contexts = matrix.length;
    let best = 0;
    for (let subset = 1; subset < 2 ** contexts - 1; subset++) {
      const inside = (c) => (subset >> c) & 1;
      const size = matrix.filter((_, c) => inside(c)).length;
      let z = matrix.map((_, c) => (inside(c) ? 1 / size : -1 / (contexts - size)));
      for (let turn = 0, drive = 0; turn < 500; turn++) {
        const weights = nearestWithGate(transposed(matrix, z), pattern);
        const answer = times(matrix, weights);
        if (length(answer) < 1e-12) break;
        const reached = length(answer) / length(weights);
        z = answer.map((value) => value / length(answer));
        if (reached < drive + 1e-14) break;
        drive = reached;
        best = Math.max(best, drive);
      }
    }
    return best / freeDrive(contexts);
  }

  /* The drive of given weights, over that of the best gate for free. */
  function driveOf(a, b) {
    const weights = [...a, ...b];
    const answer = times(driveMatrix(patternOf(a, b)), weights);
    return length(weights) > 0 ? length(answer) / length(weights) / freeDrive(b.length) : 0;
  }

  /* bestDrive of a gate that is on for all items in k of C contexts, in closed form. */
  function contextGateDrive(items, contexts, size) {
    const off = contexts - size;
    const price = Math.sqrt((items * (items + contexts)) / ((items + 2 * size) * (items + 2 * off)));
    return (price * Theory.residualRate(contexts, size)) / freeDrive(contexts);
  }

  return {
    patternOf, forbiddenPart, weightsOf, countRealisable,
    driveMatrix, freeDrive, bestDrive, driveOf, contextGateDrive,
  };
})());
