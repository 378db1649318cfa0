"use strict";

/* Errors of gated networks whose gates are K clusters of a ReLU network's neurons, and of those
   whose gates come back in repetition. The page holds them, errors with a row for each seed:
   {numbers, tasks: [{name, output, loss, found: {gates, output, loss}}]}. */
Figures.define("clusters", ({ numbers, tasks }) => {
  const [FIRST, LAST] = [numbers[0], numbers[numbers.length - 1]];
  const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const count = (found) => [...new Set(found)].sort((one, other) => one - other).join(" or ");
  const meansOf = (seeds) => numbers.map((_, k) => mean(seeds.map((seed) => seed[k])));
  const panel = (title, label) => ({
    title, label: `${label} against the number of clusters`, xLabel: "clusters K, or gates",
    yLabel: "relative error", x: [FIRST - 0.5, LAST + 0.5],
  });

  function shown(seeds, found, gates, clusters) {
    const line = (errors) => numbers.map((K, k) => [K, errors[k]]);
    const means = meansOf(seeds);
    return {
      y: [0, 1.05 * Math.max(...seeds.flat(), ...found)],
      curves: [...seeds.map((errors) => ["seed", line(errors)]), ["mean", line(means)]],
      points: [
        ["mean", clusters, means[clusters - FIRST], true],
        ...found.map((error, i) => ["found", gates[i], error]),
      ],
    };
  }

  function describe({ output, loss, found }, clusters) {
    const said = (seeds, digits) => meansOf(seeds)[clusters - FIRST].toFixed(digits);
    const best = (seeds) => numbers[meansOf(seeds).indexOf(Math.min(...meansOf(seeds)))];
    return `With ${clusters} clusters the error of the outputs is ${said(output, 2)} times that `
      + `with two, smallest at ${best(output)}; the relative error of the loss curve is `
      + `${said(loss, 3)}, smallest at ${best(loss)}. Repetition chooses ${count(found.gates)} `
      + `gates, with errors ${mean(found.output).toFixed(2)} and ${mean(found.loss).toFixed(3)}.`;
  }

  return {
    choices: { task: { label: "task:", names: tasks.map(({ name }) => name) } },
    sliders: { clusters: { label: "clusters K", min: FIRST, max: LAST, value: 4 } },
    series: {
      mean: ["c1", "mean of five seeds"],
      seed: ["soft", "each seed"],
      found: ["c2 square", "repetition, a square for each seed"],
    },
    panels: {
      output: panel("outputs, over two clusters", "Error of the outputs"),
      loss: panel("loss curve", "Relative error of the loss curve"),
    },
    draw({ task, clusters }) {
      const { output, loss, found } = tasks[task];
      return {
        output: shown(output, found.output, found.gates, clusters),
        loss: shown(loss, found.loss, found.gates, clusters),
        text: describe(tasks[task], clusters),
      };
    },
  };
});
