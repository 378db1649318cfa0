"use strict";

/* The weights of one mode in two layers, p and q, under gradient flow with s = d = 1. */
Figures.define("phase", (_, ui) => {
  const { range } = Figures;
  const [EDGE, FAR] = [2, 1.5]; // of the plane, of the initial weights
  const [END, STEP] = [10, 0.02];

  const number = (value) => Figures.signed(value, 2);
  const weight = (label, value) =>
    ({ label, min: -FAR, max: FAR, step: 0.05, value, show: number });
  const clipped = (value) => Math.max(-FAR, Math.min(FAR, value));

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
  const lines = (name, paths) => paths.map((points) => [name, points]);
  const learned = [1, -1].map((side) =>
    range(41, -0.8, 0.8).map((u) => [side * Math.exp(u), side * Math.exp(-u)]));
  const ground = [-3, -1.5, -0.5, 0.5, 1.5, 3].flatMap((kept) => lines("kept", hyperbola(kept)));

  function describe(p, q, product) {
    const kept = `b₁² − b₂² stays at ${number(p ** 2 - q ** 2)}.`;
    if (Math.abs(p + q) < 1e-9) {
      return `${kept} With b₁ = −b₂ the weights go to 0, a saddle of the loss, and stay there.`;
    }
    const end = Theory.layerEnd([p, q], 1, 1);
    const [low, high] = end.map(Math.abs).sort((one, other) => one - other);
    const balance = high / low < 1.1 ? "the layers are balanced"
      : `one layer stays ${(high / low).toFixed(1)} times as strong as the other`;
    const half = product.find(([, a]) => a >= 0.5);
    const when = half[0] > 0 ? ` The mode is half learned at time ${half[0].toFixed(1)}.` : "";
    return `${kept} The weights end at b₁ = ${number(end[0])}, b₂ = ${number(end[1])}: `
      + `${balance}.${when}`;
  }

  return {
    sliders: {
      first: weight("initial b₁, first layer", 0.1),
      second: weight("initial b₂, second layer", 0.05),
    },
    panels: {
      plane: {
        label: "Plane of the two weights with the path that gradient flow takes",
        title: "the two weights", xLabel: "b₁, first layer", yLabel: "b₂, second layer",
        equal: true, x: [-EDGE, EDGE], y: [-EDGE, EDGE],
        pick: (p, q) => ui.set({ first: clipped(p), second: clipped(q) }),
        series: {
          path: ["c1", "path, from the dot to the square"],
          same: ["c2 dash", "b₁² − b₂² of the dot"],
          kept: ["soft", "other values of it"],
          learned: ["c3", "learned: b₁b₂ = 1"],
          end: ["c1 square"],
        },
      },
      strength: {
        label: "Strength b₁b₂ and the squares of both weights over time", title: "strength",
        yLabel: "b₁b₂, b₁², b₂²", height: 300, x: [0, END],
        series: {
          "b₁b₂": ["c1", "strength b₁b₂"], "b₁²": ["c2 dash", "b₁²"], "b₂²": ["c3 dash", "b₂²"],
        },
      },
    },
    draw({ first, second }) {
      const track = Theory.layerWeights([first, second], 1, 1, STEP, END / STEP);
      const over = (value) => track.map((weights, i) => [i * STEP, value(weights)]);
      const product = over(([p, q]) => p * q);
      return {
        plane: {
          curves: [
            ...ground, ...lines("same", hyperbola(first ** 2 - second ** 2)),
            ...lines("learned", learned), ["path", track],
          ],
          points: [["path", first, second, true], ["end", ...track[track.length - 1]]],
        },
        strength: {
          y: [first * second < 0 ? -2.5 : 0, 3],
          curves: [
            ["b₁²", over(([p]) => p * p)], ["b₂²", over(([, q]) => q * q)], ["b₁b₂", product],
          ],
        },
        text: describe(first, second, product),
      };
    },
  };
});
