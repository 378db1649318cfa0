"use strict";

/* ReLU networks and gated ones, from a prepared task: outputs(Z), and forces(E) on their layers,
   minus the gradient. Of a network with H neurons, weights are lists, neuron by neuron: incoming
   ones (H, N), outgoing ones (H, K) and, if errors do not return by these, feedback (H, K). */
function makeNetworks() {
  const { numbers, list, judge, makeRule } = makeRules();

  /* target += Σ_j by[j] · row which[j] of a matrix with K columns, four rows at a time. */
  function addRows(target, at, K, matrix, which, by, from, count) {
    let j = from;
    for (; j + 3 < from + count; j += 4) {
      const a = by[j], b = by[j + 1], c = by[j + 2], d = by[j + 3];
      const u = which[j] * K, v = which[j + 1] * K, w = which[j + 2] * K, x = which[j + 3] * K;
      for (let k = 0; k < K; k++) {
        const low = a * matrix[u + k] + b * matrix[v + k];
        target[at + k] += low + c * matrix[w + k] + d * matrix[x + k];
      }
    }
    for (; j < from + count; j++) {
      for (let k = 0, u = which[j] * K; k < K; k++) target[at + k] += by[j] * matrix[u + k];
    }
  }

  /* What a neuron's row `at` of the weights W, by which errors return, meets in rows which[j] of a
     matrix: F gathers them times by[j]; pushes[j] is their product with W. Four at a time; beyond `count` by is 0. */
  function meet(F, W, at, K, matrix, which, by, pushes, count) {
    for (let j = 0; j < count; j += 4) {
      const p = by[j], q = by[j + 1], r = by[j + 2], s = by[j + 3];
      const u = which[j] * K, v = which[j + 1] * K, w = which[j + 2] * K, x = which[j + 3] * K;
      let a = 0, b = 0, c = 0, d = 0;
      for (let k = 0; k < K; k++) {
        const own = W[at + k];
        const e = matrix[u + k], f = matrix[v + k], g = matrix[w + k], h = matrix[x + k];
        a += own * e; b += own * f; c += own * g; d += own * h;
        F[at + k] += p * e + q * f + r * g + s * h;
      }
      pushes[j] = a; pushes[j + 1] = b; pushes[j + 2] = c; pushes[j + 3] = d;
    }
  }

  /* Both weight matrices of H neurons. Muon stretches steps if a matrix has more columns than rows
     in the package, where W1 is (H, N) and W2 is (R, H). */
  const layers = (W1, W2, H, N, R) => [[W1, N / H], [W2, H / R]].map(([W, ratio]) =>
    ({ W, F: list(W.length), rows: H, stretch: Math.sqrt(Math.max(1, ratio)) }));

  /* A neuron's answer to an input z > 0, and its slope, by the answer. */
  const ACTIVATIONS = {
    relu: [(z) => z, () => 1],
    squared: [(z) => z * z, (answer) => 2 * Math.sqrt(answer)],
  };

  function reluNetwork({ P, N, R, K, m, which, values }, [W1, W2, back = W2], activation) {
    const [answer, slope] = ACTIVATIONS[activation];
    const H = W1.length / N;
    const both = layers(W1, W2, H, N, R);
    const [first, second] = both;
    const A = list(H * P); // activity, neuron by neuron
    const [neurons, strengths, active] = [new Int32Array(P * H), list(P * H), new Int32Array(P)];
    const [samples, answers, pushes] = [new Int32Array(P + 3), list(P + 3), list(P + 3)];
    function outputs(Z) {
      active.fill(0);
      for (let h = 0; h < H; h++) for (let p = 0, j = 0; p < P; p++) {
        let z = 0;
        for (let e = 0; e < m; e++, j++) z += W1[h * N + which[j]] * values[j];
        const a = z > 0 ? answer(z) : 0;
        A[h * P + p] = a;
        if (!(a > 0)) continue;
        const at = p * H + active[p]++;
        neurons[at] = h; strengths[at] = a;
      }
      Z.fill(0);
      for (let p = 0; p < P; p++) addRows(Z, p * K, K, W2, neurons, strengths, p * H, active[p]);
    }
    function forces(E) {
      both.forEach(({ F }) => F.fill(0));
      for (let h = 0; h < H; h++) {
        let on = 0;
        for (let p = 0; p < P; p++) if (A[h * P + p] > 0) samples[on++] = p;
        for (let j = 0; j < on; j++) answers[j] = A[h * P + samples[j]];
        answers.fill(0, on);
        meet(second.F, back, h * K, K, E, samples, answers, pushes, on);
        for (let j = 0; j < on; j++) {
          const push = pushes[j] * slope(answers[j]);
          for (let e = samples[j] * m; e < (samples[j] + 1) * m; e++) {
            first.F[h * N + which[e]] += push * values[e];
          }
        }
      }
    }
    return { A, layers: both, outputs, forces };
  }

  /* Linear pathways {seen, on}: each reads the first inputs, and is on in some samples. D is
     a pathway's map W2ᵀ W1, then what the map would have to gain. */
  function gatedNetwork({ R, K, m, which, values }, pathways, weights) {
    const paths = pathways.map(({ seen, on }, number) => {
      const [W1, W2, back = W2] = weights[number];
      const H = W1.length / seen;
      return { H, seen, back, both: layers(W1, W2, H, seen, R),
        D: list(seen * K), neurons: Int32Array.from(numbers(H)), column: list(H),
        inputs: Int32Array.from(numbers(seen + 3), (i) => i % seen), // three are not used
        answers: list(seen + 3), pushes: list(seen + 3),
        pairs: on.flatMap((p) => numbers(m).map((e) => p * m + e))
          .filter((e) => which[e] < seen) };
    });
    function outputs(Z) {
      Z.fill(0);
      for (const { H, seen, both: [first, second], D, neurons, column, pairs } of paths) {
        D.fill(0);
        for (let i = 0; i < seen; i++) {
          for (let h = 0; h < H; h++) column[h] = first.W[h * seen + i];
          addRows(D, i * K, K, second.W, neurons, column, 0, H);
        }
        for (const e of pairs) for (let k = 0, o = Math.floor(e / m) * K; k < K; k++) {
          Z[o + k] += values[e] * D[which[e] * K + k];
        }
      }
    }
    function forces(E) {
      for (const path of paths) {
        const { H, seen, back, both: [first, second], D, inputs, answers, pushes, pairs } = path;
        D.fill(0);
        second.F.fill(0);
        for (const e of pairs) for (let k = 0, o = Math.floor(e / m) * K; k < K; k++) {
          D[which[e] * K + k] += values[e] * E[o + k];
        }
        for (let h = 0; h < H; h++) {
          answers.set(first.W.subarray(h * seen, (h + 1) * seen));
          meet(second.F, back, h * K, K, D, inputs, answers, pushes, seen);
          first.F.set(pushes.subarray(0, seen), h * seen);
        }
      }
    }
    return { layers: paths.flatMap(({ both }) => both), outputs, forces };
  }

  /* Pathways of a gating, from sets of groups: the first reads all inputs, others items only. */
  const pathwaysOf = ({ G, n, N }, sets, common) => sets.map((set, number) => ({
    seen: common && number > 0 ? N - G : N,
    on: set.flatMap((g) => numbers(n).map((i) => g * n + i)),
  }));

  /* Yields the loss before each step. */
  function* train(task, network, settings) {
    const rules = network.layers.map((each) => makeRule(settings, each));
    const [Z, E] = [list(task.Y.length), list(task.Y.length)];
    for (let step = 0; step < settings.steps; step++) {
      network.outputs(Z);
      yield { step, loss: judge(task, Z, E, settings.loss) };
      network.forces(E);
      rules.forEach((move) => move());
    }
  }

  return { reluNetwork, gatedNetwork, pathwaysOf, train };
}
