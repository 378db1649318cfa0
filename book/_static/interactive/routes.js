"use strict";

/* Errors on every route of the routing task while the network learns. The page holds them:
   {domains, trained: {Q: [route, …]}, runs: {"Q seed": {times, means: [[trained, untrained], …],
   errors: [[10⁻², …], …], course: [[10⁻³, …], …]}}}; a route is a number, input domain after input
   domain. */
Figures.define("routes", ({ domains, trained: routes, runs }, ui) => {
  const { svg, numbers, range } = Figures;
  const [CELL, EDGE] = [42, 44];
  const SIDE = EDGE + CELL * domains + 3;
  const LAST = runs["1 0"].times.length - 1;
  const KINDS = ["trained", "untrained"];
  const runOf = ({ trained, seed }) => runs[`${trained} ${seed - 1}`];

  const grid = svg("svg", {
    viewBox: `0 0 ${SIDE} ${SIDE}`, role: "img", class: "interactive-routes",
    "aria-label": "Error on every route, input domains in rows, output domains in columns",
    "aria-describedby": ui.text.id,
  });

  /* Blue up to the error 1 of no answer, the deeper the smaller; orange beyond. */
  function drawGrid(errors, chosen) {
    const middle = EDGE + (CELL * domains) / 2;
    const label = (x, y, words, attributes) =>
      svg("text", { x, y, "text-anchor": "middle", ...attributes }, words);
    const square = (route, inset, attributes) => {
      const [x, y] = [route % domains, Math.floor(route / domains)].map((k) => EDGE + CELL * k);
      const size = CELL - 2 * inset;
      return svg("rect", { x: x + inset, y: y + inset, width: size, height: size, ...attributes });
    };
    grid.replaceChildren(
      label(middle, 12, "output domain"),
      label(0, 0, "input domain", { transform: `translate(12 ${middle}) rotate(-90)` }));
    for (const k of numbers(domains)) {
      const at = EDGE + CELL * (k - 0.5);
      grid.append(label(at, EDGE - 7, k), label(EDGE - 10, at + 5, k));
    }
    errors.forEach((hundredths, route) => {
      const error = hundredths / 100;
      const kind = error > 1 ? "bad" : "c1";
      const cell = square(route, 0, { class: `route ${kind}` });
      cell.style.setProperty("--share", error > 1 ? Math.min(1, (error - 1) / 2) : 1 - error);
      const [x, y] = ["x", "y"].map((axis) => Number(cell.getAttribute(axis)) + CELL / 2);
      grid.append(cell, label(x, y + 5, error.toFixed(2)));
    });
    grid.append(...chosen.map((route) => square(route, 1.5, { class: "taught" })));
  }

  function describe(trained, stage, now, [taught, untaught]) {
    const amount = (error) => (error < 0.005 ? "below 0.005" : error.toFixed(2));
    const when = stage === 0 ? "Before training" : `At time ${now.toFixed(1)}`;
    const start = `Q = ${trained} trains ${trained * domains} of ${domains ** 2} routes. ${when} `
      + `the mean error is ${amount(taught)} on trained routes`;
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

  return {
    sliders: {
      trained: { label: "trained outputs per input, Q", min: 1, max: domains, value: 4 },
      seed: { label: "random seed", min: 1, max: 3, value: 1 },
      time: {
        label: "time", min: 0, max: LAST, value: LAST,
        show: (stage, values) => runOf(values).times[stage].toFixed(1),
      },
    },
    panels: {
      grid: { node: grid },
      curves: {
        label: "Mean error on trained and on untrained routes over time", title: "mean error",
        yLabel: "error", height: 250, y: [0, 2.2],
        series: {
          trained: ["c1", "trained routes (framed)"],
          untrained: ["bad dash", "untrained routes"],
        },
      },
    },
    draw(values) {
      const { trained, time: stage } = values;
      const { times, means, errors, course } = runOf(values);
      drawGrid(errors[stage], routes[trained]);
      const along = (curve) =>
        range(curve.length, 0, times[LAST]).map((t, i) => [t, curve[i] / 1e3]);
      return {
        curves: {
          x: [0, times[LAST]],
          curves: course.map((curve, kind) => [KINDS[kind], along(curve)]),
          points: means[stage].map((mean, kind) => [KINDS[kind], times[stage], mean, true]),
        },
        text: describe(trained, stage, times[stage], means[stage]),
      };
    },
  };
});
