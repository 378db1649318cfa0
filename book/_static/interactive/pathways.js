"use strict";

/* Two pathways race for one mode: A is always active, B on a fraction f of the samples. */
Figures.define("pathways", (figure) => {
  const { slider, panels, controls, result, legend, axes, power, percent, range } = Figures;
  const [S, D, HIDDEN] = [Math.sqrt(7) / 4, 0.25, 50]; // first mode of the four items; neurons of a pathway
  const [END, STEP] = [60, 0.1];
  const EXPONENTS = [-4, -1]; // of σ

  const text = result();
  const fraction = slider({
    name: "fraction", label: "fraction f of samples with B", min: 0.05, max: 1, step: 0.05, value: 0.5,
    change: () => draw(), show: (value) => value.toFixed(2),
  });
  const scale = slider({
    name: "scale", label: "initial scale σ", min: EXPONENTS[0], max: EXPONENTS[1], step: 0.1,
    value: -1.3, change: () => draw(), show: (value) => power(10 ** value),
  });
  const strengths = axes({
    label: "Strength of the mode in both pathways over time", title: "strength, share of s/d",
    describedBy: text.id, xLabel: "time (learning rate × step)", yLabel: "strength",
  });
  const peaks = axes({
    label: "Largest strength of pathway B against the logarithm of σ", title: "largest strength of B",
    describedBy: text.id, xLabel: "log₁₀ σ", yLabel: "share of s/d",
  });

  const startAt = (exponent) => Theory.expectedStart(HIDDEN, 10 ** exponent);
  /* Strengths of A and B, as shares of s/d. */
  const race = (exponent) =>
    Theory.pathwayRace(fraction.value, S, D, startAt(exponent), STEP, END / STEP)
      .map((both) => both.map((strength) => (strength * D) / S));
  const peakOf = (track) => Math.max(...track.map(([, b]) => b));
  const bound = (exponent) => ((startAt(exponent) * D) / S) ** (1 - fraction.value);

  function draw() {
    const track = race(scale.value);
    const exponents = range(31, ...EXPONENTS);
    const line = (name, colour, points, dash) => ({ name, colour, points, dash });
    strengths.draw({
      x: [0, END], y: [0, 1.05],
      curves: [0, 1].map((path) =>
        line("AB"[path], ["c1", "c2"][path], track.map((both, i) => [i * STEP, both[path]]), path === 1)),
    });
    peaks.draw({
      x: EXPONENTS, y: [0, 1.05],
      curves: [line("bound", "soft", exponents.map((each) => [each, bound(each)])),
        line("peak", "c2", exponents.map((each) => [each, peakOf(race(each))]), true)],
      points: [{ x: scale.value, y: peakOf(track), colour: "c2", square: true, large: true }],
    });
    text.textContent = describe(track);
  }

  function describe(track) {
    const [a, b] = track[track.length - 1];
    const top = peakOf(track);
    const when = track.findIndex((both) => both[1] === top) * STEP;
    const end = `At time ${END}, A has ${percent(a)} of s/d and B ${percent(b)}`;
    if (fraction.value === 1) return `${end}: both see the same samples and share the mode equally.`;
    const verdict = top < 0.05 ? "A takes all" : "A wins";
    return `${verdict}: B reaches at most ${percent(top)} of s/d, at time ${when.toFixed(1)}; the theorem `
      + `allows it ${percent(bound(scale.value))}. ${end}.`;
  }

  figure.append(
    controls(fraction, scale),
    legend([["c1", "A, active on all samples", "line"], ["c2", "B, on a fraction f", "dash"],
      ["soft", "bound of the theorem for B", "line"]]),
    panels(strengths.node, peaks.node),
    text,
  );
  draw();
});
