"use strict";

/* What the laboratory computes is in functions that need nothing else, as their source is also that
   of a worker; in float64 as mdsgdln.train. Here: losses, and rules by which they are descended. */
function makeRules() {
  const numbers = (n) => Array.from({ length: n }, (_, i) => i);
  const list = (n) => new Float64Array(n);
  const dot = (a, b) => a.reduce((sum, value, i) => sum + value * b[i], 0);
  const size = (v) => Math.sqrt(dot(v, v));
  const total = (values) => values.reduce((sum, value) => sum + value, 0);
  const mean = (some) => some[0].map((_, j) => total(some.map((v) => v[j])) / some.length);
  const parts = (all, count) => numbers(count).map((p) =>
    all.subarray((p * all.length) / count, ((p + 1) * all.length) / count));

  /* A function that draws `count` normal numbers (mulberry32, Box and Muller). */
  function normals(seed) {
    let state = seed >>> 0;
    function uniform() {
      state = (state + 0x6d2b79f5) | 0;
      let t = Math.imul(state ^ (state >>> 15), state | 1);
      t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
      return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
    }
    return (count, scale) => list(count).map(() =>
      scale * Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform()));
  }

  /* An orthonormal basis of vectors, by Gram and Schmidt, each twice. */
  function basisOf(vectors) {
    const found = [];
    for (const vector of vectors) {
      const v = Float64Array.from(vector);
      for (const u of [...found, ...found]) {
        const part = dot(u, v);
        v.forEach((value, i) => (v[i] = value - part * u[i]));
      }
      if (size(v) > 1e-9 * (1 + size(vector))) found.push(v.map((value) => value / size(v)));
    }
    return found;
  }

  /* A task {groups, inputs, targets} has rows of numbers for each sample; groups of equally many
     samples are contexts, or samples. Prepared, inputs are without their zeros. If outputs may be
     rotated and initial weights are small, targets are in the space that they span: output weights
     beside it would only shrink. */
  function prepare({ groups: G, inputs, targets }, { rule, loss, sigma }) {
    const [P, N, R] = [inputs.length, inputs[0].length, targets[0].length];
    const seen = inputs.map((x) => numbers(N).filter((i) => x[i] !== 0));
    const m = Math.max(...seen.map((some) => some.length));
    const pairs = seen.flatMap((some, p) => numbers(m).map((e) => [some[e] ?? 0, e in some, p]));
    const rotated = rule !== "adam" && loss === "squared" && sigma <= 1e-5;
    const basis = rotated && basisOf(targets);
    const Y = rotated ? targets.map((y) => basis.map((u) => dot(u, y))) : targets;
    return { G, n: P / G, P, N, R, K: Y[0].length, m, inputs, Y: Float64Array.from(Y.flat()),
      which: Int32Array.from(pairs, ([i]) => i),
      values: Float64Array.from(pairs, ([i, is, p]) => (is ? inputs[p][i] : 0)) };
  }

  /* The loss of outputs Z: squared (MHS Eq. 2), or softplus(z) - y z; E is minus its gradient. */
  function judge({ P, Y }, Z, E, loss) {
    const squared = loss === "squared";
    let sum = 0;
    for (let i = 0; i < Y.length; i++) {
      const y = Y[i], z = Z[i];
      const small = squared ? 0 : Math.exp(-Math.abs(z));
      E[i] = (y - (squared ? z : (z > 0 ? 1 : small) / (1 + small))) / P;
      sum += squared ? (y - z) ** 2 / 2 : Math.max(z, 0) + Math.log1p(small) - y * z;
    }
    return sum / P;
  }

  /* ---- Rules, with optax's defaults: a step of a matrix W along F, minus its gradient ---- */

  function makeRule({ rule, rate }, { W, F, rows, stretch }) {
    const [M, V] = [list(W.length), list(W.length)];
    let step = 0;
    const n = W.length;
    const rules = {
      descent() { for (let i = 0; i < n; i++) W[i] += rate * F[i]; },
      momentum() { // optax.sgd(rate, momentum=0.9)
        for (let i = 0; i < n; i++) W[i] += rate * (M[i] = F[i] + 0.9 * M[i]);
      },
      adam() { // optax.adam(rate)
        const [first, second] = [1 - 0.9 ** (step += 1), 1 - 0.999 ** step];
        for (let i = 0; i < n; i++) {
          M[i] = 0.9 * M[i] + 0.1 * F[i];
          V[i] = 0.999 * V[i] + 0.001 * F[i] * F[i];
          W[i] += (rate * M[i]) / first / (Math.sqrt(V[i] / second) + 1e-8);
        }
      },
      muon() { // optax.contrib.muon(rate)
        const [now, next] = [1 - 0.95 ** (step += 1), 1 - 0.95 ** (step + 1)];
        for (let i = 0; i < n; i++) {
          M[i] = 0.95 * M[i] + 0.05 * F[i];
          V[i] = (0.95 * M[i]) / next + (0.05 * F[i]) / now;
        }
        orthogonalised(V, rows).forEach((d, i) => (W[i] += rate * stretch * d));
      },
    };
    return rules[rule] ?? rules.descent; // of feedback alignment only F is another
  }

  /* X (rows, columns) by five steps of Newton and Schulz, X ← X (a + bA + cA²) with A = XᵀX, or
     from the other side if X is wide: the five factors are multiplied, and X comes last. */
  function orthogonalised(X, rows) {
    const columns = X.length / rows;
    const [d, high, across, along] = columns > rows ? [rows, columns, 1, columns]
      : [columns, rows, columns, 1];
    const product = (a, b) => { // of symmetric matrices that commute
      const c = list(d * d);
      for (let i = 0; i < d * d; i++) {
        for (let j = 0, at = i - (i % d), k = (i % d) * d; j < d; j++) c[at + j] += a[i] * b[k + j];
      }
      return c;
    };
    const norm = size(X) + 1e-8;
    let [A, all] = [list(d * d), list(d * d).map((_, i) => +(i % (d + 1) === 0))];
    for (let h = 0; h < high; h++) for (let i = 0; i < d; i++) for (let j = 0; j < d; j++) {
      A[i * d + j] += (X[h * across + i * along] * X[h * across + j * along]) / norm / norm;
    }
    for (let k = 0; k < 5; k++) {
      const B = product(A, A).map((square, i) =>
        2.0315 * square - 4.775 * A[i] + (i % (d + 1) ? 0 : 3.4445));
      [all, A] = [product(B, all), product(product(B, A), B)];
    }
    const found = list(X.length);
    for (let h = 0; h < high; h++) for (let i = 0; i < d; i++) for (let j = 0; j < d; j++) {
      found[h * across + j * along] += (X[h * across + i * along] / norm) * all[i * d + j];
    }
    return found;
  }

  return { numbers, list, dot, size, total, mean, parts, normals, basisOf, prepare, judge,
    makeRule };
}
