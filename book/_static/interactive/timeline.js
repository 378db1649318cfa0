"use strict";

/* One item mode of a network in C contexts: how the common pathway and those on in k contexts grow,
   turn and finish, and the race law for every k. */
Figures.define("timeline", (figure) => {
  const { html, panels, result, legend, axes, range } = Figures;
  const [HIDDEN, POINTS] = [100, 1500]; // neurons of a pathway; steps of the integration

  const text = result();
  const asked = Figures.contextControls(-7, () => draw());
  const { contexts, size, scale } = asked;
  const xLabel = "time, in units of P/κ";
  const life = axes({
    label: "Strength of the mode in both kinds of pathway, over time", describedBy: text.id,
    title: "strength", xLabel, yLabel: "log₁₀ of the strength", height: 240,
  });
  const turn = axes({
    label: "Direction of a contextual pathway over time", describedBy: text.id,
    title: "direction", xLabel, yLabel: "cosine", height: 200,
  });
  const law = axes({
    label: "Time to learn against k", title: "time to learn", describedBy: text.id,
    xLabel: "active in k contexts", yLabel: "time, P/κ", whole: true, height: 200,
  });

  function draw() {
    const [C, k] = [contexts.value, size.value];
    const start = Theory.expectedStart(HIDDEN, 10 ** scale.value);
    const unit = Math.log(1 / start) / 2;
    const winner = (m) => unit * Theory.learningTime(C, m);
    const handover = unit / Theory.commonRate(C);
    const sizes = range(C - 1, 1, C - 1);
    const end = 1.35 * winner(1);
    const h = end / POINTS;
    const lives = sizes.map((m) => Theory.contextLife(C, m, start, h, POINTS));
    const halves = lives.map((states) => h * states.findIndex((state) => state.learned >= 0.5));
    const states = lives[k - 1];
    const log = (value) => Math.log10(value);
    const over = (value) => states.map((state, i) => [i * h, value(state)]);
    const bottom = log(start);
    const kink = bottom * (1 - Theory.rawRate(k) / Theory.commonRate(C));
    const last = Math.min(end, 1.5 * Math.max(winner(k), halves[k - 1]));
    const marks = [{ x: handover, text: "T₀" }, { x: winner(k), text: "Tₖ" }];
    life.draw({
      x: [0, last], y: [Math.floor(bottom), 1],
      curves: [
        { name: "common", colour: "c3", points: over((state) => log(state.common)) },
        { name: "contextual", colour: "c1", points: over((state) => log(state.contextual)) },
        { name: "law", colour: "c2", dash: true,
          points: [[0, bottom], [handover, kink], [winner(k), 0]] },
      ],
      marks,
    });
    turn.draw({
      x: [0, last], y: [0, 1],
      curves: [
        { name: "raw", colour: "c1", points: over((state) => state.raw) },
        { name: "residual", colour: "c2", dash: true, points: over((state) => state.residual) },
      ],
      marks,
    });
    law.draw({
      x: [0.5, C - 0.5], y: [0, 1.2 * winner(1)],
      curves: [],
      points: sizes.flatMap((m) => [
        { x: m, y: winner(m), colour: "c2", square: true, large: m === k },
        { x: m, y: halves[m - 1], colour: "c1", large: m === k },
      ]),
    });
    const first = 1 + halves.indexOf(Math.min(...halves));
    text.textContent = `In ${C} contexts, pathways active in ${k} gain `
      + `${(kink - bottom).toFixed(1)} of their ${(-bottom).toFixed(1)} powers of ten while the common `
      + `pathway learns. The race law says that they have learned at ${winner(k).toFixed(1)}; half of `
      + `the residual is learned at ${halves[k - 1].toFixed(1)}. The fastest pathways are those active `
      + `in ${first} contexts${first === C - 1 ? "" : ", not those in all but one"}.`;
  }

  figure.append(
    asked.node,
    life.node,
    legend([["c3", "common pathway", "line"], ["c1", "contextual pathway", "line"],
      ["c2", "race law", "dash"]]),
    panels(
      html("div", {}, turn.node, legend([
        ["c1", "with the raw outputs", "line"], ["c2", "with the residual's", "dash"]])),
      html("div", {}, law.node, legend([
        ["c2", "race law", "square"], ["c1", "half of the residual learned", "dot"]]))),
    text,
  );
  draw();
});
