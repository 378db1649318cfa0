"use strict";

/* Errors of gated networks whose gates are K clusters of a ReLU network's neurons, and of those whose
   gates come back in repetition. The page holds them as JSON, errors with a row for each seed:
   {numbers, tasks: [{name, output, loss, found: {gates, output, loss}}]}. */
Figures.define("clusters", (figure) => {
  const { html, slider, choice, controls, panels, result, legend, axes } = Figures;
  const { numbers, tasks } = Figures.data(figure);
  const [FIRST, LAST] = [numbers[0], numbers[numbers.length - 1]];
  let task = tasks[0];

  const text = result();
  const clusters = slider({
    name: "clusters", label: "clusters K", min: FIRST, max: LAST, step: 1, value: 4,
    change: () => draw(),
  });
  const panel = (title, label) => axes({
    title, label, describedBy: text.id, xLabel: "clusters K, or gates", yLabel: "relative error",
  });
  const parts = {
    output: panel("outputs, over two clusters", "Error of the outputs against the number of clusters"),
    loss: panel("loss curve", "Relative error of the loss curve against the number of clusters"),
  };
  const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const overSeeds = (errors) => numbers.map((_, k) => mean(errors.map((seed) => seed[k])));
  const bestOf = (errors) => numbers[errors.indexOf(Math.min(...errors))];
  const count = (found) => [...new Set(found)].sort((one, other) => one - other).join(" or ");

  function draw() {
    const said = Object.entries(parts).map(([name, { draw: show }]) => {
      const [seeds, found] = [task[name], task.found[name]];
      const means = overSeeds(seeds);
      const here = means[clusters.value - FIRST];
      const curve = (label, colour, errors) =>
        ({ name: label, colour, points: numbers.map((K, k) => [K, errors[k]]) });
      show({
        x: [FIRST - 0.5, LAST + 0.5], y: [0, 1.05 * Math.max(...seeds.flat(), ...found)],
        curves: [...seeds.map((errors) => curve("seed", "soft", errors)), curve("mean", "c1", means)],
        points: [
          { x: clusters.value, y: here, colour: "c1", large: true },
          ...found.map((error, i) => ({ x: task.found.gates[i], y: error, colour: "c2", square: true })),
        ],
      });
      return { here, best: bestOf(means), found: mean(found) };
    });
    const [output, loss] = said;
    text.textContent = `With ${clusters.value} clusters the error of the outputs is `
      + `${output.here.toFixed(2)} times that with two, smallest at ${output.best}; the relative error of `
      + `the loss curve is ${loss.here.toFixed(3)}, smallest at ${loss.best}. Repetition chooses `
      + `${count(task.found.gates)} gates, with errors ${output.found.toFixed(2)} and ${loss.found.toFixed(3)}.`;
  }

  figure.append(
    choice("task:", tasks.map(({ name }) => name), (index) => {
      task = tasks[index];
      draw();
    }),
    controls(clusters),
    panels(...Object.values(parts).map(({ node }) => node)),
    legend([["c1", "mean of five seeds", "line"], ["soft", "each seed", "line"],
      ["c2", "repetition, a square for each seed", "square"]]),
    text,
  );
  draw();
});
