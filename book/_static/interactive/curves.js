"use strict";

/* Learning curves of a balanced mode with one to five weight layers, and their half times. */
Figures.define("curves", (figure) => {
  const { slider, panels, controls, result, legend, axes, power, range } = Figures;
  const D = 0.25; // of the four items
  const DEPTHS = [1, 2, 3, 4, 5];
  const EXPONENTS = [-5, -1]; // of a₀
  const CLOSE = 0.9999; // share of s/d where a curve ends

  const text = result();
  const one = (name, label, [min, max], step, value, show) =>
    slider({ name, label, min, max, step, value, show, change: () => draw() });
  const depth = one("depth", "weight layers L", [1, 5], 1, 2, (value) => `${value}`);
  const start = one("start", "initial strength a₀", EXPONENTS, 0.1, -3, (value) => power(10 ** value));
  const rate = one("rate", "singular value s", [0.2, 1], 0.05, 0.65, (value) => value.toFixed(2));
  const strengths = axes({
    label: "Strength of a mode over time, for one to five weight layers",
    title: "strength, share of s/d", describedBy: text.id,
    xLabel: "time (learning rate × step)", yLabel: "strength",
  });
  const halves = axes({
    label: "Half time of the mode against the logarithm of its initial strength",
    title: "half time", describedBy: text.id, xLabel: "log₁₀ a₀", yLabel: "time",
  });

  const timesOf = (shares, layers, exponent) =>
    Theory.depthTimes(shares, rate.value, D, 10 ** exponent, layers);
  const halfTime = (layers, exponent) => timesOf([0.5], layers, exponent)[0];

  /* At evenly spaced logits, from a₀ to nearly s/d. */
  function curve(layers, end) {
    const begin = (10 ** start.value * D) / rate.value;
    const logits = range(120, Math.log(begin / (1 - begin)), Math.log(CLOSE / (1 - CLOSE)));
    const shares = logits.map((y) => 1 / (1 + Math.exp(-y)));
    const times = timesOf(shares, layers, start.value);
    return [...shares.map((share, i) => [times[i], share]), [Math.max(end, times[119]), CLOSE]];
  }

  function draw() {
    const half = halfTime(depth.value, start.value);
    let end = 30; // of both time axes
    while (end < 1.4 * half) end *= 2;
    const order = [...DEPTHS.filter((layers) => layers !== depth.value), depth.value]; // on top: last
    const all = (points) => order.map((layers) => ({
      name: `L${layers}`, colour: layers === depth.value ? "c1" : "soft", points: points(layers),
    }));
    strengths.draw({
      x: [0, end], y: [0, 1.05], curves: all((layers) => curve(layers, end)),
      marks: [{ x: half, text: "half time" }], points: [{ x: half, y: 0.5, colour: "c1", large: true }],
    });
    halves.draw({
      x: EXPONENTS, y: [0, end],
      curves: all((layers) => range(41, ...EXPONENTS).map((each) => [each, halfTime(layers, each)])),
      points: [{ x: start.value, y: half, colour: "c1", large: true }],
    });
    text.textContent = describe(depth.value, half);
  }

  function describe(layers, half) {
    const tenth = timesOf([0.1], layers, start.value)[0].toFixed(1);
    const later = halfTime(layers, start.value - 1);
    const wait = layers === 1 ? "without a plateau: a tenth is learned at"
      : "after a plateau: a tenth is not learned before";
    const change = layers > 2 ? `${(later / half).toFixed(1)} times as late`
      : `later by ${(later - half).toFixed(2)}${layers > 1 ? ", about ln 10/(2s)" : ""}`;
    return `With ${layers} weight layer${layers > 1 ? "s" : ""} the mode is half learned at time `
      + `${half.toFixed(1)}, ${wait} time ${tenth}. From a tenth of this a₀ it would be half learned at `
      + `time ${later.toFixed(1)}, ${change}.`;
  }

  figure.append(
    controls(depth, start, rate),
    legend([["c1", "the chosen depth", "line"],
      ["soft", "the other depths: from left to right more layers", "line"]]),
    panels(strengths.node, halves.node),
    text,
  );
  draw();
});
