"use strict";

Object.assign(Theory, (() => {
  const { choose, commonRate, integrate, rawRate, residualRate } = Theory;

  /* The life of one item mode, per κ and in units of P/κ, all pathways of a kind alike. The state
     is [w, α, β, w', x, y, z]: the input weight of the common pathway, its output weights in the
     common block and in each context's; then those of a contextual one: in the common block, in the
     blocks of the contexts in which it is on, and in the others. */
  function lifeFlow([w, alpha, beta, into, x, y, z], contexts, size) {
    const [one, both] = [choose(contexts - 1, size - 1), choose(contexts - 2, size - 2)];
    const common = 1 - w * alpha - one * into * x; // error in the common block,
    const own = 1 - w * beta - one * into * y; // in the block of the context,
    const other = -w * beta - into * (both * y + (one - both) * z); // and in another block
    const all = own + (contexts - 1) * other; // summed over contexts
    const [inside, outside] = [own + (size - 1) * other, size * other];
    return [
      contexts * (alpha * common + beta * all), contexts * common * w, all * w,
      size * (x * common + y * inside) + (contexts - size) * z * outside,
      size * common * into, inside * into, outside * into,
    ];
  }

  /* From the start on the raw data: strengths of the mode in the common and in a contextual
     pathway, cosines of the latter's outputs with the raw pattern and with the residual's, and the
     learned share of the residual, at the times 0, h, 2h, … */
  function contextLife(contexts, size, start, h, steps) {
    const [root, rest] = [Math.sqrt(start), contexts - size];
    const [first, second] = [commonRate(contexts), rawRate(size)].map((rate) => root / rate);
    const state = [root, contexts * first, first, root, size * second, second, 0];
    const track = integrate((now) => lifeFlow(now, contexts, size), state, h, steps);
    return track.map(([w, alpha, beta, into, x, y, z]) => {
      const length = Math.hypot(x, Math.sqrt(size) * y, Math.sqrt(rest) * z);
      return {
        common: w * Math.hypot(alpha, Math.sqrt(contexts) * beta),
        contextual: into * length,
        raw: (size * (x + y)) / rawRate(size) / length,
        residual: (size * rest * (y - z)) / contexts / residualRate(contexts, size) / length,
        learned: choose(contexts - 2, size - 1) * into * (y - z),
      };
    });
  }

  return { lifeFlow, contextLife };
})());

/* One item mode of a network in C contexts: how the common pathway and those on in k contexts grow,
   turn and finish, and the race law for every k. */
Figures.define("timeline", () => {
  const { numbers } = Figures;
  const [HIDDEN, POINTS] = [100, 1500]; // neurons of a pathway; steps of the integration
  const xLabel = "time, in units of P/κ";

  return {
    sliders: {
      contexts: { label: "contexts C", min: 3, max: 8, value: 4 },
      size: {
        label: "pathways active in k contexts", min: 1, max: (now) => now.contexts - 1, value: 3,
      },
      scale: Figures.scale(-9, -3, 0.5, -7),
    },
    panels: {
      life: {
        label: "Strength of the mode in both kinds of pathway, over time", title: "strength",
        xLabel, yLabel: "log₁₀ of the strength", height: 240, wide: true,
        series: {
          common: ["c3", "common pathway"],
          contextual: ["c1", "contextual pathway"],
          law: ["c2 dash", "race law"],
        },
      },
      turn: {
        label: "Direction of a contextual pathway over time", title: "direction",
        xLabel, yLabel: "cosine", height: 200, y: [0, 1],
        series: {
          raw: ["c1", "with the raw outputs"], residual: ["c2 dash", "with the residual's"],
        },
      },
      law: {
        label: "Time to learn against k", title: "time to learn", height: 200, whole: true,
        xLabel: "active in k contexts", yLabel: "time, P/κ",
        series: {
          law: ["c2 square", "race law"], half: ["c1 dot", "half of the residual learned"],
        },
      },
    },
    draw({ contexts: C, size: k, scale }) {
      const start = Theory.expectedStart(HIDDEN, 10 ** scale);
      const unit = Math.log(1 / start) / 2;
      const winner = (m) => unit * Theory.learningTime(C, m);
      const handover = unit / Theory.commonRate(C);
      const h = (1.35 * winner(1)) / POINTS;
      const lives = numbers(C - 1).map((m) => Theory.contextLife(C, m, start, h, POINTS));
      const halves = lives.map((states) => h * states.findIndex(({ learned }) => learned >= 0.5));
      const states = lives[k - 1];
      const over = (value) => states.map((state, i) => [i * h, value(state)]);
      const bottom = Math.log10(start);
      const kink = bottom * (1 - Theory.rawRate(k) / Theory.commonRate(C));
      const x = [0, Math.min(POINTS * h, 1.5 * Math.max(winner(k), halves[k - 1]))];
      const marks = [[handover, "T₀"], [winner(k), "Tₖ"]];
      const first = 1 + halves.indexOf(Math.min(...halves));
      return {
        life: {
          x, y: [Math.floor(bottom), 1], marks,
          curves: [
            ["common", over((state) => Math.log10(state.common))],
            ["contextual", over((state) => Math.log10(state.contextual))],
            ["law", [[0, bottom], [handover, kink], [winner(k), 0]]],
          ],
        },
        turn: {
          x, marks,
          curves: [
            ["raw", over((state) => state.raw)], ["residual", over((state) => state.residual)],
          ],
        },
        law: {
          x: [0.5, C - 0.5], y: [0, 1.2 * winner(1)],
          points: numbers(C - 1).flatMap((m) =>
            [["law", m, winner(m), m === k], ["half", m, halves[m - 1], m === k]]),
        },
        text: `In ${C} contexts, pathways active in ${k} gain ${(kink - bottom).toFixed(1)} of `
          + `their ${(-bottom).toFixed(1)} powers of ten while the common pathway learns. The race `
          + `law says that they have learned at ${winner(k).toFixed(1)}; half of the residual is `
          + `learned at ${halves[k - 1].toFixed(1)}. The fastest pathways are those active in `
          + `${first} contexts${first === C - 1 ? "" : ", not those in all but one"}.`,
      };
    },
  };
});
