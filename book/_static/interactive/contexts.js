"use strict";

/* Pathways on in k of C contexts: their rates, the race law, and the loss over time. */
Figures.define("contexts", (figure) => {
  const { html, panels, result, legend, axes, power, range } = Figures;
  const [ITEMS, HIDDEN] = [8, 100]; // items of a tree, neurons of a pathway

  const text = result();
  const asked = Figures.contextControls(-5, () => draw());
  const { contexts, size, scale } = asked;
  const rates = axes({
    label: "Rates of pathways on in k contexts", title: "rate, per κ/P", describedBy: text.id,
    xLabel: "on in k contexts", yLabel: "rate s", whole: true, height: 200,
  });
  const law = axes({
    label: "The race law: time to learn against k", title: "time to learn", describedBy: text.id,
    xLabel: "on in k contexts", yLabel: "units of ln(1/a₀)/2", whole: true, height: 200,
  });
  const losses = axes({
    label: "Loss over time", title: "loss of the whole network", describedBy: text.id,
    xLabel: "time (learning rate × step) / P", yLabel: "loss", height: 220,
  });

  function draw() {
    const [C, k, start] = [contexts.value, size.value, Theory.expectedStart(HIDDEN, 10 ** scale.value)];
    const sizes = range(C - 1, 1, C - 1);
    const dots = (value, colour, square = false) =>
      sizes.map((m) => ({ x: m, y: value(m), colour, square, large: m === k }));
    const line = (name, value, colour, dash) =>
      ({ name, colour, dash, points: sizes.map((m) => [m, value(m)]) });
    const residual = (m) => Theory.residualRate(C, m);
    const winner = (m) => Theory.learningTime(C, m);
    const late = (m) => Theory.timeWithoutHeadStart(C, m);
    rates.draw({
      x: [0.5, C - 0.5], y: [0, C + 1.5],
      curves: [
        line("raw", Theory.rawRate, "c1"),
        line("residual", residual, "c2", true),
        { name: "common", colour: "c3", points: [[0.5, Theory.commonRate(C)], [C - 0.5, Theory.commonRate(C)]] },
      ],
      points: [...dots(Theory.rawRate, "c1"), ...dots(residual, "c2", true)],
    });
    law.draw({
      x: [0.5, C - 0.5], y: [0, 1.6],
      curves: [line("law", winner, "c1"), line("late", late, "c2", true)],
      points: [...dots(winner, "c1"), ...dots(late, "c2", true)],
    });
    const samples = C * ITEMS;
    const unit = (samples * Math.log(1 / start)) / 2; // of the race law, for κ = 1
    const fastest = Math.sqrt(ITEMS - 1); // κ of the first split
    const end = 0.4 * Math.log(1 / start);
    const grid = range(241, 0, end);
    losses.draw({
      x: [0, end], y: [0, 4.2],
      curves: [
        { name: "head start", colour: "c1",
          points: grid.map((t) => [t, Theory.headStartLoss(t * samples, C, k, ITEMS, start)]) },
        { name: "closed form", colour: "c2", dash: true,
          points: grid.map((t) => [t, Theory.closedForm(t * samples, C, k, ITEMS, start, start)]) },
      ],
      marks: [{ x: (unit * winner(k)) / fastest / samples, text: "Tₖ of the halves" }],
    });
    text.textContent = describe(C, k, winner, late, sizes);
  }

  function describe(C, k, winner, late, sizes) {
    const first = (value) => {
      const best = Math.min(...sizes.map(value));
      return sizes.filter((m) => value(m) < best + 1e-9).join(" or ");
    };
    const residual = Theory.residualRate(C, k).toFixed(2);
    return `In ${C} contexts, pathways on in ${k} have rate ${Theory.rawRate(k).toFixed(2)} on the raw `
      + `data and ${residual} on what the common pathway (${Theory.commonRate(C).toFixed(2)}) leaves. `
      + `They learn in ${winner(k).toFixed(3)} units of time. The fastest are those on in `
      + `${first(winner)}, in ${winner(C - 1).toFixed(3)}; without the head start it would be those on `
      + `in ${first(late)}.`;
  }

  figure.append(
    asked.node,
    panels(
      html("div", {}, rates.node, legend([
        ["c1", "on the raw data", "dot"], ["c2", "on the residual", "square"],
        ["c3", "common pathway", "line"]])),
      html("div", {}, law.node, legend([
        ["c1", "race law", "dot"], ["c2", "no head start", "square"]]))),
    losses.node,
    legend([["c1", "with the head start of the race law", "line"],
      ["c2", "closed form: on the final residual from the start", "dash"]]),
    text,
  );
  draw();
});
