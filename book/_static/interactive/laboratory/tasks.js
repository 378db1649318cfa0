"use strict";

/* The laboratory's tasks, gatings that one can guess, addresses and programs. What a reader
   chooses is {task, opposite, blocks, contexts, items, margin, activation, rule, loss, hidden,
   scale, rate, steps, turn, seed}: the name of a preset; blocks [name, rows], of which the first
   holds in every context; powers of ten for scale and rate; activation, rule, loss and turn by
   number; 0 for seed before a run. */
var Laboratory = (() => {
  const range = (n) => Array.from({ length: n }, (_, i) => i);
  const power = (exponent) => Number((10 ** exponent).toPrecision(2));
  const ACTIVATIONS = ["relu", "squared"];
  const RULES = ["descent", "momentum", "adam", "muon", "feedback"];
  const LOSSES = ["squared", "logistic"];
  const RATES = [-1, -2, -2.7, -2, -1]; // at which each rule learns,
  const SCALES = [-5, -1.5]; // and σ with each activation
  const [DESCENT, ADAM, FEEDBACK, SQUARED, LOGISTIC] = [0, 2, 4, 0, 1];

  const STRUCTURES = {
    tree: (n) => [1, 2, 4, 8].filter((parts) => parts <= n).flatMap((parts) =>
      range(parts).map((part) => range(n).map((i) => +(Math.floor((i * parts) / n) === part)))),
    ring(n) {
      const rise = range(n / 2).map((i) => i / (n / 2 - 1));
      const bump = [...rise, ...rise.slice().reverse()];
      const bumps = range(n - 1).map((shift) => range(n).map((i) => bump[(i + shift) % n]));
      return [Array(n).fill(1), ...bumps, ...bumps];
    },
    cross(n) { // a tree with pairs across quarters
      const other = (i) => (i % 4 === 1 ? i + 1 : i % 4 === 2 ? i - 1 : i);
      return STRUCTURES.tree(n).map((row, r) =>
        (r >= n / 2 - 1 && r < n - 1 ? row.map((_, i) => row[other(i)]) : row));
    },
    chain: (n) => range(n).map((r) => range(n).map((i) => +(i <= r))),
    empty: (n) => range(2 * n - 1).map(() => Array(n).fill(0)),
  };
  const block = (name, n) => [name, STRUCTURES[name](n)];

  /* Presets: what they are called, what differs from three trees, and structures. */
  const TREES = { opposite: false, contexts: 3, items: 8, margin: 0.4, activation: 0,
    rule: DESCENT, loss: SQUARED, hidden: 200, scale: -5, rate: -1, steps: 2000, turn: 0, seed: 0 };
  const PRESETS = {
    trees: ["three trees", {}],
    structures: ["tree, ring, cross", {}, ["tree", "tree", "ring", "cross"]],
    two: ["two contexts", { contexts: 2 }],
    four: ["four contexts", { contexts: 4, rate: -0.9 }],
    apart: ["no common block", { rate: -0.7 }, ["empty"]],
    equivalence: ["equivalence", { opposite: true }],
    xor: ["XOR", { hidden: 128, scale: -4, rate: -1.7 }, []],
    adam: ["trees with Adam", { rule: ADAM, rate: RATES[ADAM] }],
    logistic: ["trees with a logistic loss", { loss: LOGISTIC, rate: -0.7 }],
  };

  function preset(task) {
    const [, more, names = ["tree"]] = PRESETS[task];
    const chosen = { task, ...TREES, ...more };
    return fill(chosen, names.map((name) => block(name, chosen.items)));
  }

  /* The task with blocks for all its contexts: those that fit, else trees. */
  function fill(chosen, blocks) {
    const { task, contexts, items } = chosen;
    const fitting = ([name, rows] = ["tree"]) => (rows?.[0].length === items ? [name, rows]
      : block(STRUCTURES[name] ? name : "empty", items));
    const all = task === "xor" ? [] : range(contexts + 1);
    return { ...chosen, blocks: all.map((b) => fitting(blocks[b])) };
  }

  const isXor = ({ task }) => task === "xor";
  const isSquared = ({ activation }) => activation === 1;
  const hasFeedback = ({ rule }) => rule === FEEDBACK;
  const groupsOf = (chosen) => (isXor(chosen) ? 4 : chosen.contexts);

  /* The samples: for XOR two inputs and the margin; else an item and a context, one-hot. */
  function samples(chosen) {
    const { contexts: C, items: n, blocks, opposite, margin, loss } = chosen;
    if (isXor(chosen)) {
      const low = loss === LOGISTIC ? 0 : -1; // a target of the logistic loss is 0 to 1
      return { groups: 4, targets: [[1], [1], [low], [low]],
        inputs: [[1, 1, margin], [-1, -1, margin], [1, -1, -margin], [-1, 1, -margin]] };
    }
    const pairs = range(C * n).map((p) => [p % n, Math.floor(p / n)]);
    const elsewhere = (value) => (opposite ? 1 - value : 0);
    const asked = (value, b, c) => (b === 0 || b - 1 === c ? value : elsewhere(value));
    return {
      groups: C,
      inputs: pairs.map(([i, c]) => range(n + C).map((k) => +(k === i || k === n + c))),
      targets: pairs.map(([i, c]) =>
        blocks.flatMap(([, rows], b) => rows.map((row) => asked(row[i], b, c)))),
    };
  }

  /* ---- Gatings: sets of groups in which neurons are active ---- */

  const COUNTS = ["no", "one", "two", "three", "four", "five"];

  /* What neurons are called that are active in k groups. */
  function called(k, chosen) {
    const G = groupsOf(chosen);
    if (k === 0) return `silent ${isXor(chosen) ? "for every sample" : "in every context"}`;
    if (k === G) return "never silent";
    const silent = k > 1 && k >= G - 2 && !isXor(chosen);
    const [state, count] = silent ? ["silent in", G - k]
      : [isXor(chosen) ? "active for" : "active in", k];
    const thing = isXor(chosen) ? "sample" : "context";
    return `${state} ${COUNTS[count]} ${thing}${count > 1 ? "s" : ""}`;
  }

  function subsets(G, k) {
    const all = range(2 ** G).map((code) => range(G).filter((g) => (code >> g) & 1));
    return all.filter((set) => set.length === k);
  }

  /* Each has the neurons of a pathway as the ReLU network's, shared, or a seventh as published. */
  function gatings(chosen) {
    const [G, H] = [groupsOf(chosen), chosen.hidden];
    const gating = (k, sets, hidden = Math.max(10, Math.round(H / 7))) =>
      ({ key: `${k}`, k, sets, hidden, name: called(k, chosen) });
    if (isXor(chosen)) {
      return [gating(2, [[0, 1], [2, 3]], H / 2), gating(1, subsets(4, 1), H / 4)];
    }
    const sizes = [G - 1, ...(G > 3 ? [G - 2] : []), ...(G > 2 ? [1] : [])];
    return [gating(G, [range(G)]),
      ...sizes.map((k) => gating(k, [range(G), ...subsets(G, k)]))];
  }

  /* What the engine is asked to do. */
  function job(chosen) {
    const { hidden, steps, seed } = chosen;
    return { task: samples(chosen), gatings: gatings(chosen), rule: RULES[chosen.rule],
      activation: ACTIVATIONS[chosen.activation], loss: LOSSES[chosen.loss], hidden, sigma: power(chosen.scale), rate: power(chosen.rate),
      steps, seed, every: Math.ceil(steps / 200), shown: 120,
      turn: chosen.turn === 1 && !isXor(chosen),
      left: chosen.loss === LOGISTIC ? 0.01 : 0.003, most: isXor(chosen), common: !isXor(chosen) };
  }

  /* ---- The address: a preset, and what differs from it ---- */

  const NUMBERS = ["contexts", "items", "margin", "hidden", "steps", "turn", "seed"];
  const POWERS = ["scale", "rate"];
  const NAMES = { activation: ACTIVATIONS, rule: RULES, loss: LOSSES };

  /* A block in an address: its name, or a hexadecimal digit for each cell. */
  const written = ([name, rows]) => (name !== "drawn" ? name
    : rows.flat().map((value) => Math.round(15 * value).toString(16)).join(""));
  function read(text, n) {
    if (Object.hasOwn(STRUCTURES, text)) return block(text, n);
    if (!/^[0-9a-f]+$/.test(text) || text.length % n) return block("tree", n);
    const values = [...text].map((digit) => parseInt(digit, 16) / 15);
    return ["drawn", range(text.length / n).map((r) => values.slice(r * n, (r + 1) * n))];
  }

  function toAddress(chosen) {
    const usual = preset(chosen.task);
    const held = [`task=${chosen.task}`];
    const keep = (key, say = String) => {
      if (chosen[key] !== usual[key]) held.push(`${key}=${say(chosen[key])}`);
    };
    NUMBERS.forEach((key) => keep(key));
    POWERS.forEach((key) => keep(key, power));
    Object.entries(NAMES).forEach(([key, names]) => keep(key, (index) => names[index]));
    const [blocks, same] = [chosen, fill({ ...chosen, task: chosen.task }, usual.blocks)]
      .map((one) => one.blocks.map(written).join("."));
    if (blocks !== same) held.push(`blocks=${blocks}`);
    return `#${held.join("&")}`;
  }

  function fromAddress(hash) {
    const held = new Map(hash.slice(1).split("&").map((part) => part.split("=")));
    const task = Object.hasOwn(PRESETS, held.get("task")) ? held.get("task") : "trees";
    const chosen = preset(task);
    const number = (key) => (held.has(key) ? Number(held.get(key)) : NaN);
    for (const key of NUMBERS) if (Number.isFinite(number(key))) chosen[key] = number(key);
    for (const key of POWERS) {
      if (number(key) > 0) chosen[key] = Number(Math.log10(number(key)).toFixed(2));
    }
    for (const [key, names] of Object.entries(NAMES)) {
      const index = names.indexOf(held.get(key));
      if (index < 0) continue;
      chosen[key] = index;
      if (key === "rule" && !held.has("rate")) chosen.rate = RATES[index];
      if (key === "activation" && !held.has("scale")) chosen.scale = SCALES[index];
    }
    const within = (low, value, high) => Math.min(high, Math.max(low, Math.round(value)));
    chosen.contexts = within(2, chosen.contexts, 5);
    chosen.items = chosen.items === 4 ? 4 : 8;
    chosen.seed = within(0, chosen.seed, 2 ** 31);
    const blocks = held.get("blocks")?.split(".").map((text) => read(text, chosen.items));
    return fill(chosen, blocks || chosen.blocks);
  }

  /* ---- The same in Python ---- */

  function program(chosen) {
    const { contexts: C, items: n, blocks, opposite, margin, rule, loss, hidden, steps } = chosen;
    const { inputs, targets } = samples(chosen);
    const array = (rows) => `np.array(${JSON.stringify(rows.map((row) =>
      row.map((value) => Number(value.toFixed(4)))))})`;
    const named = ([name, rows]) => (/tree|ring|cross/.test(name) ? `"${name}"` : array(rows));
    const [common, ...own] = blocks.map(named);
    const lines = ["import jax, optax, mdsgdln as md, numpy as np", "",
      'jax.config.update("jax_enable_x64", True)'];
    if (isXor(chosen)) {
      lines.push(`task = md.tasks.xor(${margin})`, "gates = np.eye(4)  # or two pathways: "
        + "np.array([[1, 1, 0, 0], [0, 0, 1, 1]])");
      if (loss === LOGISTIC) lines.push("task = md.Task(task.inputs, (task.targets + 1) / 2)");
    } else {
      lines.push(`task = md.tasks.contextual(${C}, ${n}, [${own.join(", ")}], common=${common})`);
      if (opposite) {
        lines.push(`common, *blocks = [md.tasks.structure(block, ${n}) for block in `
          + `[${[common, ...own].join(", ")}]]`, `contexts = np.repeat(np.arange(${C}), ${n})`,
        `own = [np.where(contexts == c, np.tile(block, ${C}), 1 - np.tile(block, ${C}))`,
        "       for c, block in enumerate(blocks)]  # elsewhere the opposite",
        `task = md.Task(task.inputs, np.vstack([np.tile(common, ${C}), *own]))`);
      }
    }
    const optimisers = ["optax.sgd({})", "optax.sgd({}, momentum=0.9)", "optax.adam({})",
      "optax.contrib.muon({})"];
    const how = `optimiser=${optimisers[rule].replace("{}", power(chosen.rate))}`
      + (loss === LOGISTIC ? ", loss=md.logistic" : "");
    const gated = isXor(chosen) ? `md.pathways(task, gates, ${hidden / 4})`
      : `md.networks.contextual_pathways(task, ${C}, ${Math.max(1, C - 1)}, `
        + `${Math.max(10, Math.round(hidden / 7))})`;
    const sizes = `(${inputs[0].length}, ${hidden}, ${targets[0].length})`;
    return [...lines,
      isSquared(chosen) ? `relu = md.Layered(${sizes}, lambda z: jax.nn.relu(z) ** 2)`
        : `relu = md.ReLUNetwork(${sizes})`,
      `gated = ${gated}`,
      "for network in (relu, gated):",
      `    weights = network.init(jax.random.key(0), ${power(chosen.scale)})`,
      `    run = md.train(network, weights, task, None, ${steps}, ${how})`,
      "    print(run.losses[::100])", ""].join("\n");
  }

  return { range, power, RATES, SCALES, STRUCTURES, PRESETS, preset, fill, isXor, isSquared,
    hasFeedback, groupsOf, samples, called, gatings, job, toAddress, fromAddress, program };
})();
