"use strict";

/* Three neurons from their preferences among contexts to their gates, as trained and with something
   changed. The page holds {contexts, every, runs: {name: {preference, active}}}: a row of numbers
   for each neuron, and a text with a hexadecimal digit for each four samples of a record. */
Figures.define("letting", ({ contexts, every, runs }, ui) => {
  const { svg, numbers } = Figures;
  const CHANGES = {
    nothing: "nothing",
    turned: "preferences turned by one context",
    "turned twice": "by two",
    told: "all prefer context 1 least",
    contexts: "error without differences between contexts",
    rest: "error without what a linear map leaves",
  };
  const names = Object.keys(CHANGES);
  const [left, width, height, gap, top] = [92, 288, 84, 20, 26];
  const number = runs.nothing.active.length;
  const picture = svg("svg", {
    viewBox: `0 0 ${left + width} ${top + number * (height + gap) + 20}`, role: "img",
    "aria-label": "Preferences of three neurons, and the samples that activate them over time",
    "aria-describedby": ui.text.id, style: "width: 100%; max-width: 620px; height: auto",
  });
  const words = (x, y, anchor, text) => svg("text", { x, y, "text-anchor": anchor }, text);
  const bits = (digit) => [8, 4, 2, 1].map((bit) => (parseInt(digit, 16) & bit) > 0);

  /* For each record, which samples activate the neuron. */
  function gates(text, samples) {
    const long = samples / 4;
    return numbers(text.length / long).map((k) =>
      [...text.slice((k - 1) * long, k * long)].flatMap(bits));
  }

  function drawNeuron(preference, records, y) {
    const [step, row] = [width / records.length, height / records[0].length];
    const lowest = preference.indexOf(Math.min(...preference));
    preference.forEach((value, c) => {
      const middle = y + (height * (c + 0.5)) / contexts;
      const long = 28 * Math.abs(value);
      const attributes = { y: middle - 7, height: 14, width: long, x: 50 - (value < 0 ? long : 0) };
      picture.append(words(2, middle + 4, "start", `${c + 1}`),
        svg("rect", { ...attributes, class: `fill ${c === lowest ? "c2" : "c1"}` }));
    });
    const cells = records.flatMap((record, t) => record.map((on, sample) =>
      (on ? `M${(left + t * step).toFixed(1)} ${(y + sample * row).toFixed(1)}`
        + `h${step.toFixed(1)}v${row.toFixed(1)}h${-step.toFixed(1)}z` : "")));
    picture.append(svg("path", { d: cells.join(""), class: "fill ink" }));
    for (let c = 0; c <= contexts; c++) {
      const at = y + (c * height) / contexts;
      picture.append(svg("path", { d: `M${left} ${at}H${left + width}`, class: "line c3", style: "stroke-width: 1" }));
    }
  }

  /* In which context a neuron is active for the fewest samples in the end. */
  function leftMost(records) {
    const last = records[records.length - 1];
    const long = last.length / contexts;
    const counts = numbers(contexts).map((c) =>
      last.slice((c - 1) * long, c * long).filter(Boolean).length);
    const least = Math.min(...counts);
    return least > long / 2 ? null : counts.indexOf(least);
  }

  return {
    choices: { change: { label: "what is changed before training", names: Object.values(CHANGES) } },
    panels: { neurons: { node: picture, wide: true } },
    draw({ change }) {
      const { preference, active } = runs[names[change]];
      const records = active.map((text) => gates(text, contexts * 8));
      picture.replaceChildren(
        words(2, 14, "start", "preference"),
        words(left, 14, "start", "samples that activate it, by step"),
      );
      records.forEach((record, k) => drawNeuron(preference[k], record, top + k * (height + gap)));
      const end = top + number * (height + gap) + 6;
      picture.append(words(left, end, "start", "step 0"),
        words(left + width, end, "end", `${every * records[0].length}`));
      const said = records.map((record, k) => {
        const [gone, lowest] = [leftMost(record), preference[k].indexOf(Math.min(...preference[k]))];
        if (gone === null) return `neuron ${k + 1} lets go of no context`;
        const which = gone === lowest ? "the one it preferred least" : "not the one it preferred least";
        return `neuron ${k + 1} lets go of context ${gone + 1}, ${which}`;
      });
      return { text: `In the end ${said.join("; ")}.` };
    },
  };
});
