"use strict";

/* A run of the laboratory, for which settings are {hidden, sigma, rate, rule, loss, activation,
   steps}; what it shows of neurons, and what is said of them. */
function makeEngine() {
  const { numbers, list, dot, size, total, mean, parts, normals, basisOf, prepare } = makeRules();
  const { reluNetwork, gatedNetwork, pathwaysOf, train } = makeNetworks();
  const FEEDBACK = 0.1; // standard deviation, as in the chapter on the learning rule

  /* Mean input and mean target of each group beyond those of all samples; their sizes. */
  function groupMeans({ G, n, P, inputs, Y }, settled = 0) {
    const asked = Y.map((y) => y - settled);
    return [inputs.map((x) => Float64Array.from(x)), parts(asked, P)].map((data) => {
      const means = numbers(G).map((g) => mean(data.slice(g * n, (g + 1) * n)));
      const all = mean(means);
      const beyond = means.map((v) => v.map((value, i) => value - all[i]));
      return { all, beyond, sizes: beyond.map((v) => (size(v) > 1e-9 * size(all) ? size(v) : 0)) };
    });
  }

  /* theory.context_preference of every neuron [w, u]; and how it leans to the mean sample, where
     there is one, which says whether it will grow: `settled` is what the network answers at first. */
  function preferences(task, neurons, settled) {
    const [seen, asked] = groupMeans(task, settled);
    const along = ([w, u], x, y, inside, outside) =>
      dot(w, x) + (outside ? (dot(u, y) * inside) / outside : 0);
    return neurons.map((neuron) => {
      const pi = seen.beyond.map((x, g) =>
        along(neuron, x, asked.beyond[g], seen.sizes[g], asked.sizes[g]));
      const lean = along(neuron, seen.all, asked.all, size(seen.all), size(asked.all));
      return { pi: pi.map((value) => value - total(pi) / pi.length),
        lean: Math.min(size(seen.all), size(asked.all)) > 1e-9 ? lean : 1 };
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
     1, … groups, and for no sample at all; and of what is active in some, where the others were those
     preferred least. */
  function census({ G, n }, neurons, activities, initial) {
    const ways = (off) => numbers(off).reduce((all, i) => (all * (G - i)) / (i + 1), 1);
    const mass = neurons.map(([w, u]) => size(w) * size(u));
    const on = activities.map((activity) => {
      const least = 0.01 * Math.max(...activity);
      return parts(activity, G).map((some) => 2 * some.filter((a) => a > least).length > n);
    });
    const share = Array(G + 1).fill(0);
    const dead = total(mass.filter((_, h) => activities[h].every((a) => a === 0))) / total(mass);
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
    return { on, mass, share, dead, right: right / partly,
      chance: chance / partly, partly: partly / total(mass) };
  }

  /* Initial weights of H neurons, and the feedback that a rule asks for. */
  function weightsOf(draw, H, N, K, { sigma, rule }) {
    const sizes = [[N, sigma], [K, sigma], ...(rule === "feedback" ? [[K, FEEDBACK]] : [])];
    return sizes.map(([columns, scale]) => draw(H * columns, scale));
  }

  /* Trains a ReLU network; yields which neurons are shown, then what is seen every so many steps.
     Rows are sorted by the group that a neuron prefers least, or most. */
  function* watch(task, settings) {
    const { hidden: H, seed, shown, steps, every, left } = settings;
    const weights = weightsOf(normals(seed), H, task.N, task.K, settings);
    const network = reluNetwork(task, weights, settings.activation);
    const [into, out, back] = weights.map((W) => parts(W, H));
    const neurons = numbers(H).map((h) => [into[h], out[h]]);
    const told = back ? numbers(H).map((h) => [list(task.N), back[h]]) : neurons; // they forecast
    const settled = settings.loss === "squared" ? 0 : 0.5;
    const drawn = preferences(task, told, settled);
    if (settings.turn) turn(task, told);
    const initial = preferences(task, told, settled);
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

  /* A gated network from new weights. */
  function drawGated(task, sets, settings, start) {
    const { hidden, seed, common } = settings;
    const [draw, pathways] = [normals(seed + start), pathwaysOf(task, sets, common)];
    return gatedNetwork(task, pathways, pathways.map(({ seen }) =>
      weightsOf(draw, hidden, seen, task.K, settings)));
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
      for (const start of [1, 2]) { // how far these are apart is how much of a distance says nothing
        const curve = [];
        for (const { step, loss } of train(task, drawGated(task, sets, own, start), own)) {
          if (step % settings.every === 0) curve.push(loss);
          if (step % 100 === 99) yield { kind: "busy" };
        }
        yield { kind: "gated", key, curve };
      }
    }
    yield { kind: "complete" };
  }

  return { run, preferences, turn, census, linearFloor };
}
