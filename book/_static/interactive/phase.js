"use strict";

/* The weights of one mode in two layers, p and q, under gradient flow with s = d = 1. */
Figures.define("phase", (figure) => {
  const { html, slider, panels, controls, result, legend, axes, range } = Figures;
  const [EDGE, FAR] = [2, 1.5]; // of the plane, of the initial weights
  const [END, STEP] = [10, 0.02];

  const text = result();
  const number = (value) => `${value < -0.004 ? "−" : ""}${Math.abs(value).toFixed(2)}`;
  const one = (name, label, value) => slider({
    name, label, min: -FAR, max: FAR, step: 0.05, value, show: number, change: () => draw(),
  });
  const first = one("first", "initial b₁, first layer", 0.1);
  const second = one("second", "initial b₂, second layer", 0.05);
  const plane = axes({
    label: "Plane of the two weights with the path that gradient flow takes", title: "the two weights",
    describedBy: text.id, xLabel: "b₁, first layer", yLabel: "b₂, second layer", equal: true,
  });
  const strength = axes({
    label: "Strength b₁b₂ and the squares of both weights over time", title: "strength", height: 300,
    describedBy: text.id, xLabel: "time (learning rate × step)", yLabel: "b₁b₂, b₁², b₂²",
  });

  /* Both branches of p² - q² = kept. */
  function hyperbola(kept) {
    const size = Math.sqrt(Math.abs(kept));
    const most = Math.asinh(EDGE / size);
    const branch = (side) => range(61, -most, most).map((u) => {
      const [near, along] = [side * size * Math.cosh(u), size * Math.sinh(u)];
      return kept < 0 ? [along, near] : [near, along];
    });
    if (size > 0) return [branch(1), branch(-1)];
    return [1, -1].map((side) => [[-EDGE, -side * EDGE], [EDGE, side * EDGE]]);
  }
  const lines = (name, colour, paths, dash) => paths.map((points) => ({ name, colour, dash, points }));
  const learned = [1, -1].map((side) =>
    range(41, -0.8, 0.8).map((u) => [side * Math.exp(u), side * Math.exp(-u)]));
  const ground = [-3, -1.5, -0.5, 0.5, 1.5, 3].flatMap((kept) => lines("kept", "soft", hyperbola(kept)));

  function draw() {
    const start = [first.value, second.value];
    const track = Theory.layerWeights(start, 1, 1, STEP, END / STEP);
    const last = track[track.length - 1];
    const over = (value) => track.map((weights, i) => [i * STEP, value(weights)]);
    const product = over(([p, q]) => p * q);
    plane.draw({
      x: [-EDGE, EDGE], y: [-EDGE, EDGE],
      curves: [
        ...ground,
        ...lines("this one", "c2", hyperbola(start[0] ** 2 - start[1] ** 2), true),
        ...lines("learned", "c3", learned),
        { name: "path", colour: "c1", points: track },
      ],
      points: [{ x: start[0], y: start[1], colour: "c1", large: true },
        { x: last[0], y: last[1], colour: "c1", square: true }],
    });
    strength.draw({
      x: [0, END], y: [start[0] * start[1] < 0 ? -2.5 : 0, 3],
      curves: [
        { name: "b₁²", colour: "c2", dash: true, points: over(([p]) => p * p) },
        { name: "b₂²", colour: "c3", dash: true, points: over(([, q]) => q * q) },
        { name: "b₁b₂", colour: "c1", points: product },
      ],
    });
    text.textContent = describe(start, product);
  }

  function describe(start, product) {
    const kept = `b₁² − b₂² stays at ${number(start[0] ** 2 - start[1] ** 2)}.`;
    if (Math.abs(start[0] + start[1]) < 1e-9) {
      return `${kept} With b₁ = −b₂ the weights go to 0, a saddle of the loss, and stay there.`;
    }
    const [p, q] = Theory.layerEnd(start, 1, 1);
    const [low, high] = [Math.abs(p), Math.abs(q)].sort((one, other) => one - other);
    const balance = high / low < 1.1 ? "the layers are balanced"
      : `one layer stays ${(high / low).toFixed(1)} times as strong as the other`;
    const half = product.find(([, a]) => a >= 0.5);
    const when = half[0] > 0 ? ` The mode is half learned at time ${half[0].toFixed(1)}.` : "";
    return `${kept} The weights end at b₁ = ${number(p)}, b₂ = ${number(q)}: ${balance}.${when}`;
  }

  /* Beside the sliders: a tap, or a drag of the mouse. */
  function move(event) {
    const picture = plane.node.querySelector("svg");
    const box = picture.getBoundingClientRect();
    const [left, right, top, bottom] = picture.dataset.frame.split(" ").map(Number);
    const inside = (share) => Math.max(-FAR, Math.min(FAR, EDGE * (2 * share - 1)));
    first.set(inside((event.clientX - box.left - left) / (right - left)));
    second.set(inside((box.top + bottom - event.clientY) / (bottom - top)));
    draw();
  }
  plane.node.classList.add("interactive-plane");
  plane.node.addEventListener("click", move);
  plane.node.addEventListener("pointermove", (event) => {
    if (event.buttons === 1 && event.pointerType === "mouse") move(event);
  });

  figure.append(
    controls(first, second),
    panels(
      html("div", {}, plane.node, legend([["c1", "path, from the dot to the square", "line"],
        ["c2", "b₁² − b₂² of the dot", "dash"], ["soft", "other values of it", "line"],
        ["c3", "learned: b₁b₂ = 1", "line"]])),
      html("div", {}, strength.node, legend([["c1", "strength b₁b₂", "line"], ["c2", "b₁²", "dash"],
        ["c3", "b₂²", "dash"]]))),
    text,
  );
  draw();
});
