"use strict";

/* The book's formulas as pure functions; no page is needed. Longer ones of a single figure are in
   its own script. The tests hold all of them against the package `mdsgdln`. */
var Theory = (() => {
  /* ---- One mode ---- */

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

  /* Effective start of every mode of H neurons with weights of standard deviation σ. */
  const expectedStart = (hidden, sigma) => (hidden * sigma * sigma) / 2;

  const logit = (share) => Math.log(share / (1 - share));

  /* Times at which a balanced mode of L layers has learned these shares of s/d, in rising order:
     da/dt = L a^(2-2/L) (s - d a). In the logit y of the share x the flow is dt/dy = x^(2/L-1)
     times a constant, which is smooth: Simpson's rule. */
  function depthTimes(shares, s, d, start, depth) {
    const power = 1 - 2 / depth;
    const slope = (y) => (1 + Math.exp(-y)) ** power;
    let [time, y] = [0, logit((start * d) / s)];
    return shares.map((share) => {
      const width = logit(share) - y;
      const panels = Math.ceil(10 * Math.abs(width)) || 1;
      const half = width / panels / 2;
      for (let panel = 0; panel < panels; panel++, y += 2 * half) {
        time += (half / 3) * (slope(y) + 4 * slope(y + half) + slope(y + 2 * half));
      }
      return (time * (d / s) ** power) / (depth * s);
    });
  }

  /* Runge and Kutta's steps of dx/dt = flow(x): x at the times 0, h, 2h, … */
  function integrate(flow, start, h, steps) {
    const along = (x, v, by) => x.map((value, i) => value + by * v[i]);
    const track = [start];
    for (let step = 0; step < steps; step++) {
      const x = track[step];
      const first = flow(x);
      const second = flow(along(x, first, h / 2));
      const third = flow(along(x, second, h / 2));
      const last = flow(along(x, third, h));
      const mean = first.map((v, i) => (v + 2 * second[i] + 2 * third[i] + last[i]) / 6);
      track.push(along(x, mean, h));
    }
    return track;
  }

  /* The weights of a mode in the two layers, dp/dt = q (s - d pq) and dq/dt = p (s - d pq). */
  const layerWeights = (start, s, d, h, steps) =>
    integrate(([p, q]) => [q * (s - d * p * q), p * (s - d * p * q)], start, h, steps);

  /* Where they end: pq = s/d on the same hyperbola, on the side of p + q; at 0 if p = -q. */
  function layerEnd([p, q], s, d) {
    const kept = p * p - q * q;
    const sum = Math.hypot(kept, (2 * s) / d); // p² + q²
    return [sum + kept, sum - kept].map((twice) => Math.sign(p + q) * Math.sqrt(twice / 2));
  }

  /* Strengths of a mode in a pathway that is always active and in one that is on a fraction f:
     da/dt = 2a (s - d a - f d b), db/dt = 2f b (s - d a - d b), in logarithms. */
  function pathwayRace(f, s, d, start, h, steps) {
    const flow = (logs) => {
      const [a, b] = logs.map(Math.exp);
      return [2 * (s - d * a - f * d * b), 2 * f * (s - d * a - d * b)];
    };
    const logs = integrate(flow, [Math.log(start), Math.log(start)], h, steps);
    return logs.map((both) => both.map(Math.exp));
  }

  /* ---- XOR with a margin: two or four pathways that share H hidden neurons ---- */

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

  /* ---- Items in contexts: pathways on in k of C contexts; rates per κ/P ---- */

  const commonRate = (contexts) => Math.sqrt(contexts * (contexts + 1));
  const rawRate = (size) => Math.sqrt(size * (size + 1));
  const residualRate = (contexts, size) => Math.sqrt((size * (contexts - size)) / contexts);

  /* The race law: time to learn in units of ln(1/a₀)/2 and per κ/P. */
  function learningTime(contexts, size) {
    const common = commonRate(contexts);
    return 1 / common + (1 - rawRate(size) / common) / residualRate(contexts, size);
  }

  function choose(n, k) {
    if (k < 0) return 0;
    let ways = 1;
    for (let i = 1; i <= k; i++) ways = (ways * (n - k + i)) / i;
    return Math.round(ways);
  }

  /* ---- The gate of a ReLU neuron: rows (items) of 0 or 1 for each context ---- */

  const patternOf = (a, b) => a.map((item) => b.map((context) => Number(item + context > 0)));

  /* Rows i, j and columns c, d that cut out a permutation matrix; null if it is realisable. */
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

  /* In how many contexts each item is on. */
  const rowSizes = (pattern) => pattern.map((row) => row.filter(Boolean).length);

  /* Weights that have a realisable pattern, the proof's, moved towards zero. */
  function weightsOf(pattern) {
    const sizes = rowSizes(pattern);
    const contexts = pattern[0].length;
    const shift = contexts / 2;
    const b = pattern[0].map((_, c) => {
      const on = sizes.filter((_, i) => pattern[i][c]);
      return shift + (on.length ? 0.5 - Math.min(...on) : -contexts);
    });
    return { a: sizes.map((size) => size - shift), b };
  }

  /* Drive of these weights on what the common pathway leaves of the split of the items into two
     halves, over that of the best linear neuron that gets its gate for free. */
  function driveOf(a, b) {
    const sign = (i) => (i < a.length / 2 ? 1 : -1) / Math.sqrt(a.length);
    const split = b.map((context) =>
      a.reduce((sum, item, i) => sum + sign(i) * Math.max(0, item + context), 0));
    const mean = split.reduce((sum, value) => sum + value, 0) / b.length;
    const free = residualRate(b.length, Math.floor(b.length / 2));
    const length = Math.hypot(...a, ...b);
    return length > 0 ? Math.hypot(...split.map((value) => value - mean)) / length / free : 0;
  }

  return {
    deepMode, modeTime, expectedStart, depthTimes, integrate, layerWeights, layerEnd, pathwayRace,
    crossover, xorLoss, xorHalfTime, relativeError, commonRate, rawRate, residualRate,
    learningTime, choose, patternOf, forbiddenPart, rowSizes, weightsOf,
    driveOf,
  };
})();
