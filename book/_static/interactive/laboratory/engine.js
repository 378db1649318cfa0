"use strict";

/* What the laboratory computes, in float64 as mdsgdln.train. It is one function that needs nothing
   else, as its source is also that of a worker. A task is {groups, inputs, targets}, rows of
   numbers for each sample; groups of equally many samples are contexts, or samples. Settings are
   {hidden, sigma, rate, rule, loss, steps}. Of a network with H neurons, weights are two lists,
   neuron by neuron: incoming ones (H, N), outgoing ones (H, K). */
function makeEngine() {
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

  /* Inputs without their zeros. If outputs may be rotated and initial weights are small, targets in
     the space that they span: output weights beside it would only shrink. */
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
    const rules = {
      descent(i) { W[i] += rate * F[i]; },
      momentum(i) { W[i] += rate * (M[i] = F[i] + 0.9 * M[i]); }, // optax.sgd(…, momentum=0.9)
      adam(i) { // optax.adam(rate)
        M[i] = 0.9 * M[i] + 0.1 * F[i];
        V[i] = 0.999 * V[i] + 0.001 * F[i] * F[i];
        const second = Math.sqrt(V[i] / (1 - 0.999 ** step)) + 1e-8;
        W[i] += (rate * M[i]) / (1 - 0.9 ** step) / second;
      },
      muon(i) { // optax.contrib.muon(rate), up to the matrix's step
        M[i] = 0.95 * M[i] + 0.05 * F[i];
        V[i] = (0.95 * M[i]) / (1 - 0.95 ** (step + 1)) + (0.05 * F[i]) / (1 - 0.95 ** step);
      },
    };
    const move = rules[rule];
    return () => {
      step += 1;
      for (let i = 0; i < W.length; i++) move(i);
      if (rule === "muon") orthogonalised(V, rows).forEach((d, i) => (W[i] += rate * stretch * d));
    };
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

  /* ---- Networks: outputs(Z), and forces(E), minus the gradient, of their layers ---- */

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

  /* What a neuron's row `at` of outgoing weights W meets in rows which[j] of a matrix: F gathers
     them times by[j]; pushes[j] is their product with W. Four at a time; beyond `count` by is 0. */
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

  /* Both weight matrices of H neurons, which may stand for more, `width`. Muon stretches steps if
     a matrix has more columns than rows in the package, where W1 is (H, N) and W2 is (R, H). */
  const layers = (W1, W2, H, width, N, R) => [[W1, N / width], [W2, width / R]].map(([W, ratio]) =>
    ({ W, F: list(W.length), rows: H, stretch: Math.sqrt(Math.max(1, ratio)) }));

  function reluNetwork({ P, N, R, K, m, which, values }, [W1, W2]) {
    const H = W1.length / N;
    const both = layers(W1, W2, H, H, N, R);
    const [first, second] = both;
    const A = list(H * P); // activity, neuron by neuron
    const [neurons, strengths, active] = [new Int32Array(P * H), list(P * H), new Int32Array(P)];
    const [samples, answers, pushes] = [new Int32Array(P + 3), list(P + 3), list(P + 3)];
    function outputs(Z) {
      active.fill(0);
      for (let h = 0; h < H; h++) for (let p = 0, j = 0; p < P; p++) {
        let z = 0;
        for (let e = 0; e < m; e++, j++) z += W1[h * N + which[j]] * values[j];
        A[h * P + p] = z > 0 ? z : 0;
        if (!(z > 0)) continue;
        const at = p * H + active[p]++;
        neurons[at] = h; strengths[at] = z;
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
        meet(second.F, W2, h * K, K, E, samples, answers, pushes, on);
        for (let j = 0; j < on; j++) for (let e = samples[j] * m; e < (samples[j] + 1) * m; e++) {
          first.F[h * N + which[e]] += pushes[j] * values[e];
        }
      }
    }
    return { A, layers: both, outputs, forces };
  }

  /* Linear pathways {seen, on, width}: each reads the first inputs, and is on in some samples. D is
     a pathway's map W2ᵀ W1, then what the map would have to gain. */
  function gatedNetwork({ R, K, m, which, values }, pathways, weights) {
    const paths = pathways.map(({ seen, on, width }, number) => {
      const H = weights[number][0].length / seen;
      return { H, seen, both: layers(...weights[number], H, width || H, seen, R),
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
      for (const { H, seen, both: [first, second], D, inputs, answers, pushes, pairs } of paths) {
        D.fill(0);
        second.F.fill(0);
        for (const e of pairs) for (let k = 0, o = Math.floor(e / m) * K; k < K; k++) {
          D[which[e] * K + k] += values[e] * E[o + k];
        }
        for (let h = 0; h < H; h++) {
          answers.set(first.W.subarray(h * seen, (h + 1) * seen));
          meet(second.F, second.W, h * K, K, D, inputs, answers, pushes, seen);
          first.F.set(pushes.subarray(0, seen), h * seen);
        }
      }
    }
    return { layers: paths.flatMap(({ both }) => both), outputs, forces };
  }

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

  /* ---- What is said of neurons ---- */

  /* Mean input and mean target of each group beyond those of all samples; their sizes. */
  function groupMeans({ G, n, P, inputs, Y }) {
    return [inputs.map((x) => Float64Array.from(x)), parts(Y, P)].map((data) => {
      const means = numbers(G).map((g) => mean(data.slice(g * n, (g + 1) * n)));
      const all = mean(means);
      const beyond = means.map((v) => v.map((value, i) => value - all[i]));
      return { all, beyond, sizes: beyond.map((v) => (size(v) > 1e-9 * size(all) ? size(v) : 0)) };
    });
  }

  /* theory.context_preference of every neuron [w, u]; and how it leans to the mean sample, which
     says whether it will grow. */
  function preferences(task, neurons) {
    const [seen, asked] = groupMeans(task);
    const along = ([w, u], x, y, inside, outside) =>
      dot(w, x) + (outside ? (dot(u, y) * inside) / outside : 0);
    return neurons.map((neuron) => {
      const pi = seen.beyond.map((x, g) =>
        along(neuron, x, asked.beyond[g], seen.sizes[g], asked.sizes[g]));
      const lean = along(neuron, seen.all, asked.all, size(seen.all), size(asked.all));
      return { pi: pi.map((value) => value - total(pi) / pi.length),
        lean: size(asked.all) > 1e-9 ? lean : 1 };
    });
  }

  /* Gives neurons the preference for group g that they had for g - 1, by the least change that does
     it, in steps. */
  function turn(task, neurons) {
    groupMeans(task).forEach(({ beyond, sizes }, side) => {
      const units = beyond.map((v, g) => v.map((value) => (sizes[g] ? value / sizes[g] : 0)));
      for (const { [side]: w } of neurons) {
        const wanted = units.map((_, g) => dot(w, units.at(g - 1)));
        for (let sweep = 0; sweep < 200; sweep++) {
          const missing = units.map((u, g) => (wanted[g] - dot(w, u)) / units.length);
          units.forEach((u, g) => u.forEach((value, i) => (w[i] += missing[g] * value)));
        }
      }
    });
  }

  /* What the best linear map leaves of the squared loss. */
  function linearFloor({ P, N, K, inputs, Y }) {
    const rows = basisOf(numbers(N).map((i) => inputs.map((x) => x[i])));
    const outputs = numbers(K).map((k) => numbers(P).map((p) => Y[p * K + k]));
    const left = outputs.map((y) => dot(y, y) - total(rows.map((u) => dot(u, y) ** 2)));
    return total(left) / 2 / P;
  }

  /* Where neurons are active, for more than half of a group's samples (what is below 1 % of the
     largest response slides on the boundary); shares of the weight, ‖w‖‖u‖, that is active in 0,
     1, … groups; and of what is active in some, where the others were those preferred least. */
  function census({ G, n }, neurons, activities, initial) {
    const ways = (off) => numbers(off).reduce((all, i) => (all * (G - i)) / (i + 1), 1);
    const mass = neurons.map(([w, u]) => size(w) * size(u));
    const on = activities.map((activity) => {
      const least = 0.01 * Math.max(...activity);
      return parts(activity, G).map((some) => 2 * some.filter((a) => a > least).length > n);
    });
    const share = Array(G + 1).fill(0);
    let [partly, right, chance] = [0, 0, 0];
    on.forEach((where, h) => {
      const off = where.filter((one) => !one).length;
      share[G - off] += mass[h] / total(mass);
      if (off === 0 || off === G) return;
      const bound = [...initial[h].pi].sort((a, b) => a - b)[off];
      partly += mass[h];
      chance += mass[h] / ways(off);
      if (where.every((one, g) => one === initial[h].pi[g] >= bound)) right += mass[h];
    });
    return { on, mass, share, right: right / partly, chance: chance / partly,
      partly: partly / total(mass) };
  }

  /* Trains a ReLU network; yields which neurons are shown, then what is seen every so many steps.
     Rows are sorted by the group that a neuron prefers least, or most. */
  function* watch(task, settings) {
    const { hidden: H, sigma, seed, shown, steps, every, left } = settings;
    const [draw, K] = [normals(seed), task.K];
    const weights = [draw(H * task.N, sigma), draw(H * K, sigma)];
    const network = reluNetwork(task, weights);
    const [into, out] = weights.map((W) => parts(W, H));
    const neurons = numbers(H).map((h) => [into[h], out[h]]);
    const drawn = preferences(task, neurons);
    if (settings.turn) turn(task, neurons);
    const initial = preferences(task, neurons);
    const extreme = settings.most ? Math.max : Math.min;
    const group = drawn.map(({ pi }) => pi.indexOf(extreme(...pi)));
    const alive = numbers(H).filter((h) => initial[h].lean > 0).slice(0, shown);
    const order = alive.slice().sort((a, b) => group[a] - group[b]
      || Math.abs(drawn[b].pi[group[b]]) - Math.abs(drawn[a].pi[group[a]]));
    const cards = alive.sort((a, b) => initial[b].lean - initial[a].lean).slice(0, 6);
    yield { kind: "start", order, groups: order.map((h) => group[h]),
      floor: settings.loss === "squared" ? linearFloor(task) : null,
      cards: cards.map((h) => order.indexOf(h)), pi: cards.map((h) => initial[h].pi) };
    const activities = parts(network.A, H);
    let [losses, first] = [[], null];
    for (const { step, loss } of train(task, network, settings)) {
      losses.push(loss);
      first ??= loss;
      const broken = !(loss < 1e3 * first);
      const done = step === steps - 1 || loss < left * first || broken;
      if (step % every !== 0 && !done) continue;
      const { on, mass, ...found } = census(task, neurons, activities, initial);
      const [onHere, massHere] = [on, mass].map((of) => order.map((h) => of[h]));
      yield { kind: "frame", step, loss, losses, broken, ...found, on: onHere, mass: massHere,
        activity: order.map((h) => Float32Array.from(activities[h])) };
      losses = [];
      if (done) return;
    }
  }

  /* A linear pathway learns as fewer neurons do whose weights have the same Gram matrix, its
     Cholesky factor, unless a rule moves each weight by itself. */
  function condensed([W1, W2], H) {
    const [N, K] = [W1.length / H, W2.length / H];
    const weights = numbers(N + K).map((i) => numbers(H).map((h) =>
      (i < N ? W1[h * N + i] : W2[h * K + i - N])));
    const L = weights.map(() => list(N + K));
    for (let i = 0; i < N + K; i++) for (let j = i; j < N + K; j++) {
      let left = dot(weights[i], weights[j]);
      for (let k = 0; k < i; k++) left -= L[k][i] * L[k][j];
      L[i][j] = j === i ? Math.sqrt(left) : left / L[i][i];
    }
    return [[0, N], [N, N + K]].map((ends) =>
      Float64Array.from(L.flatMap((row) => [...row.slice(...ends)])));
  }

  /* Pathways of a gating, from sets of groups: the first reads all inputs, others items only. */
  const pathwaysOf = ({ G, n, N }, sets, { common, hidden }) => sets.map((set, number) => ({
    seen: common && number > 0 ? N - G : N, width: hidden,
    on: set.flatMap((g) => numbers(n).map((i) => g * n + i)),
  }));

  /* A gated network from new weights. */
  function drawGated(task, sets, settings) {
    const { hidden, sigma, rule, seed } = settings;
    const [draw, pathways] = [normals(seed + 1), pathwaysOf(task, sets, settings)];
    return gatedNetwork(task, pathways, pathways.map(({ seen }) => {
      const drawn = [seen, task.K].map((columns) => draw(hidden * columns, sigma));
      return rule === "adam" || hidden <= seen + task.K ? drawn : condensed(drawn, hidden);
    }));
  }

  /* Everything that a run shows, part after part. */
  function* run({ task: given, gatings, ...settings }) {
    const task = prepare(given, settings);
    let last = 0;
    for (const part of watch(task, settings)) {
      yield part;
      last = part.step ?? 0;
    }
    for (const { key, sets, hidden } of gatings) {
      const own = { ...settings, hidden, steps: last + 1 };
      const curve = [];
      for (const { step, loss } of train(task, drawGated(task, sets, own), own)) {
        if (step % settings.every === 0) curve.push(loss);
        if (step % 100 === 99) yield { kind: "busy" };
      }
      yield { kind: "gated", key, curve };
    }
    yield { kind: "complete" };
  }

  return { run, train, prepare, reluNetwork, gatedNetwork, pathwaysOf, condensed, preferences, turn,
    census, linearFloor, normals, parts };
}
