"use strict";

/* Two pathways race for one mode: A is always active, B on a fraction f of the samples. */
Figures.define("pathways", () => {
  const { along, fixed, percent, range } = Figures;
  const [S, D, HIDDEN] = [Math.sqrt(7) / 4, 0.25, 50]; // mode of four items; neurons of a path
  const [END, STEP] = [60, 0.1];
  const EXPONENTS = [-4, -1]; // of σ

  const startAt = (exponent) => Theory.expectedStart(HIDDEN, 10 ** exponent);
  /* Strengths of A and B, as shares of s/d. */
  const race = (fraction, exponent) =>
    Theory.pathwayRace(fraction, S, D, startAt(exponent), STEP, END / STEP)
      .map((both) => both.map((strength) => (strength * D) / S));
  const peakOf = (track) => Math.max(...track.map(([, b]) => b));
  const bound = (fraction, exponent) => ((startAt(exponent) * D) / S) ** (1 - fraction);

  function describe(fraction, scale, track) {
    const [a, b] = track[track.length - 1];
    const top = peakOf(track);
    const when = track.findIndex((both) => both[1] === top) * STEP;
    const end = `At time ${END}, A has ${percent(a)} of s/d and B ${percent(b)}`;
    if (fraction === 1) return `${end}: both see the same samples and share the mode equally.`;
    const verdict = top < 0.05 ? "A takes all" : "A wins";
    return `${verdict}: B reaches at most ${percent(top)} of s/d, at time ${when.toFixed(1)}; the `
      + `theorem allows it ${percent(bound(fraction, scale))}. ${end}.`;
  }

  return {
    sliders: {
      fraction: {
        label: "fraction f of samples with B", min: 0.05, max: 1, step: 0.05, value: 0.5,
        show: fixed(2),
      },
      scale: Figures.scale(...EXPONENTS, 0.1, -1.3),
    },
    series: {
      A: ["c1", "A, active on all samples"],
      B: ["c2 dash", "B, on a fraction f"],
      bound: ["soft", "bound of the theorem for B"],
    },
    panels: {
      strengths: {
        label: "Strength of the mode in both pathways over time", title: "strength, share of s/d",
        yLabel: "strength", x: [0, END], y: [0, 1.05],
      },
      peaks: {
        label: "Largest strength of pathway B against the logarithm of σ",
        title: "largest strength of B", xLabel: "log₁₀ σ", yLabel: "share of s/d",
        x: EXPONENTS, y: [0, 1.05],
      },
    },
    draw({ fraction, scale }) {
      const track = race(fraction, scale);
      const exponents = range(31, ...EXPONENTS);
      const over = (path) => track.map((both, i) => [i * STEP, both[path]]);
      return {
        strengths: { curves: [["A", over(0)], ["B", over(1)]] },
        peaks: {
          curves: [
            ["bound", along(exponents, (each) => bound(fraction, each))],
            ["B", along(exponents, (each) => peakOf(race(fraction, each)))],
          ],
          points: [["B", scale, peakOf(track), true]],
        },
        text: describe(fraction, scale, track),
      };
    },
  };
});
