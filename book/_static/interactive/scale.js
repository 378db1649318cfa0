"use strict";

/* Errors on trained and untrained routes, and how far the tangent kernel moved, against the initial
   scale. The page holds them as JSON, log₁₀ of means: {domains, scales, runs: {Q: {trained, untrained,
   kernel_change}}}. */
Figures.define("scale", (figure) => {
  const { html, slider, panels, controls, result, legend, axes, power } = Figures;
  const data = Figures.data(figure);
  const LOGS = data.scales.map(Math.log10);
  const NUMBERS = Object.keys(data.runs).map(Number);
  const LEARNED = -5; // log₁₀ of the error at which training ended

  const text = result();
  const scale = slider({
    name: "scale", label: "initial scale σ₀", min: 0, max: data.scales.length - 1, step: 1,
    value: data.scales.indexOf(0.66), show: (value) => `${data.scales[value]}`, change: () => draw(),
  });
  const trained = slider({
    name: "trained", label: "trained outputs per input, Q", min: Math.min(...NUMBERS),
    max: Math.max(...NUMBERS), step: 1, value: 4, change: () => draw(),
  });
  const errors = axes({
    label: "Logarithm of the error on trained and untrained routes against that of the initial scale",
    title: "error", describedBy: text.id, xLabel: "log₁₀ σ₀", yLabel: "log₁₀ error",
  });
  const kernel = axes({
    label: "Logarithm of the relative change of the tangent kernel against that of the initial scale",
    title: "change of the kernel", describedBy: text.id, xLabel: "log₁₀ σ₀",
    yLabel: "log₁₀ relative change",
  });

  function draw() {
    const at = scale.value;
    const now = data.runs[trained.value];
    const curve = (name, values, colour, dash) =>
      ({ name, colour, dash, points: values.map((value, i) => [LOGS[i], value]) });
    const dot = (value, colour, square) => ({ x: LOGS[at], y: value, colour, square, large: true });
    const x = [-1.4, 1];
    errors.draw({
      x, y: [-8, 3],
      curves: [
        { name: "no answer", colour: "soft", points: x.map((end) => [end, 0]) },
        curve("trained", now.trained, "c1"), curve("untrained", now.untrained, "bad", true),
      ],
      points: [dot(now.trained[at], "c1"), dot(now.untrained[at], "bad", true)],
    });
    kernel.draw({
      x, y: [-1, 7],
      curves: [
        { name: "whole", colour: "soft", points: x.map((end) => [end, 0]) },
        curve("kernel", now.kernel_change, "c3"),
      ],
      points: [dot(now.kernel_change[at], "c3")],
    });
    text.textContent = describe(at, now);
  }

  /* Two digits of 10^log. */
  function amount(log) {
    const value = 10 ** log;
    return log < -2 || log >= 4 ? power(value) : `${Number(value.toPrecision(2))}`;
  }

  function describe(at, now) {
    const [taught, untaught, change] =
      [now.trained, now.untrained, now.kernel_change].map((values) => values[at]);
    const learned = taught < LEARNED ? `below ${power(10 ** LEARNED)}` : amount(taught);
    const works = untaught < Math.log10(0.05) ? "The untrained routes work"
      : untaught < 0 ? "The untrained routes work in part" : "The untrained routes fail";
    const moved = change >= 0 ? `changed by ${amount(change)} times its initial size`
      : `changed by ${Math.round(100 * 10 ** change)}\u00a0% of its initial size`;
    return `${works} with Q = ${trained.value} of ${data.domains} and σ₀ = ${data.scales[at]}: the error is `
      + `${learned} on trained routes and ${amount(untaught)} on untrained ones. The tangent kernel ${moved}.`;
  }

  figure.append(
    controls(scale, trained),
    panels(
      html("div", {}, errors.node, legend([
        ["c1", "trained routes", "line"], ["bad", "untrained routes", "dash"],
        ["soft", "no answer at all", "line"]])),
      html("div", {}, kernel.node, legend([
        ["c3", "kernel change", "line"], ["soft", "as large as the kernel", "line"]]))),
    text,
  );
  draw();
});
