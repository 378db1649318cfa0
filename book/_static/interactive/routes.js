"use strict";

/* Errors on every route of the routing task while the network learns. The page holds them as JSON:
   {domains, trained: {Q: [route, …]}, runs: {"Q seed": {times, means: [[trained, untrained], …],
   errors: [[10⁻², …], …], course: [[10⁻³, …], …]}}}; a route is a number, input domain after input
   domain. */
Figures.define("routes", (figure) => {
  const { html, svg, slider, panels, controls, result, legend, axes, range } = Figures;
  const data = Figures.data(figure);
  const [CELL, EDGE] = [42, 44];
  const SIDE = EDGE + CELL * data.domains + 3;
  const LAST = data.runs["1 0"].times.length - 1;
  const run = () => data.runs[`${trained.value} ${seed.value - 1}`];

  const text = result();
  const update = () => {
    time.set(time.value); // it shows the time of this run
    draw();
  };
  const trained = slider({
    name: "trained", label: "trained outputs per input, Q", min: 1, max: data.domains, step: 1,
    value: 4, change: update,
  });
  const seed = slider({
    name: "seed", label: "random seed", min: 1, max: 3, step: 1, value: 1,
    change: update,
  });
  const time = slider({
    name: "time", label: "time", min: 0, max: LAST, step: 1, value: LAST,
    show: (value) => run().times[value].toFixed(1), change: () => draw(),
  });
  const grid = svg("svg", {
    viewBox: `0 0 ${SIDE} ${SIDE}`, role: "img", class: "interactive-routes",
    "aria-label": "Error on every route, input domains in rows, output domains in columns",
    "aria-describedby": text.id,
  });
  const curves = axes({
    label: "Mean error on trained and on untrained routes over time", title: "mean error",
    describedBy: text.id, xLabel: "time (learning rate × step)", yLabel: "error", height: 250,
  });

  function draw() {
    const { times, means, errors, course } = run();
    const stage = time.value;
    drawGrid(errors[stage], data.trained[trained.value]);
    const kinds = [["trained", "c1"], ["untrained", "bad"]].slice(0, means[0].length);
    curves.draw({
      x: [0, times[LAST]], y: [0, 2.2],
      curves: kinds.map(([name, colour], kind) => ({
        name, colour, dash: kind === 1,
        points: range(course[kind].length, 0, times[LAST]).map((t, i) => [t, course[kind][i] / 1e3]),
      })),
      points: kinds.map(([, colour], kind) => ({
        x: times[stage], y: means[stage][kind], colour, square: kind === 1, large: true,
      })),
    });
    text.textContent = describe(times[stage], stage, means[stage]);
  }

  /* Blue up to the error 1 of no answer, the deeper the smaller; orange beyond. */
  function drawGrid(errors, chosen) {
    const middle = EDGE + (CELL * data.domains) / 2;
    const label = (x, y, words, attributes) =>
      svg("text", { x, y, "text-anchor": "middle", ...attributes }, words);
    grid.replaceChildren(
      label(middle, 12, "output domain"),
      label(0, 0, "input domain", { transform: `translate(12 ${middle}) rotate(-90)` }));
    for (let k = 0; k < data.domains; k++) {
      const at = EDGE + CELL * (k + 0.5);
      grid.append(label(at, EDGE - 7, `${k + 1}`), label(EDGE - 10, at + 5, `${k + 1}`));
    }
    const corner = (route) =>
      [route % data.domains, Math.floor(route / data.domains)].map((k) => EDGE + CELL * k);
    errors.forEach((hundredths, route) => {
      const error = hundredths / 100;
      const [x, y] = corner(route);
      const cell = svg("rect", {
        x, y, width: CELL, height: CELL, class: `route ${error > 1 ? "bad" : "c1"}`,
        "data-error": hundredths,
      });
      cell.style.setProperty("--share", error > 1 ? Math.min(1, (error - 1) / 2) : 1 - error);
      grid.append(cell, label(x + CELL / 2, y + CELL / 2 + 5, error.toFixed(2)));
    });
    for (const route of chosen) {
      const [x, y] = corner(route);
      grid.append(svg("rect", {
        x: x + 1.5, y: y + 1.5, width: CELL - 3, height: CELL - 3, class: "taught",
      }));
    }
  }

  const amount = (error) => (error < 0.005 ? "below 0.005" : error.toFixed(2));

  function describe(now, stage, [taught, untaught]) {
    const all = data.domains ** 2;
    const chosen = trained.value * data.domains;
    const when = stage === 0 ? "Before training" : `At time ${now.toFixed(1)}`;
    const start = `Q = ${trained.value} trains ${chosen} of ${all} routes. ${when} the mean error is `
      + `${amount(taught)} on trained routes`;
    if (untaught === undefined) return `${start}, and there are no others.`;
    return `${start} and ${amount(untaught)} on untrained ones${verdict(stage, taught, untaught)}.`;
  }

  function verdict(stage, taught, untaught) {
    if (stage === 0) return "";
    if (stage < LAST) return untaught < 1.1 * taught + 0.02 ? ": they learn together" : "";
    if (untaught < 0.05) return ": the network has filled in the right answers";
    return untaught < 1 ? ": some of the answers that it has filled in are wrong"
      : ": on average their answers are worse than no answer, whose error is 1";
  }

  figure.append(
    controls(trained, seed, time),
    panels(grid, html("div", {}, curves.node, legend([
      ["c1", "trained routes (framed)", "line"], ["bad", "untrained routes", "dash"]]))),
    text,
  );
  draw();
});
