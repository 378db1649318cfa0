"use strict";

/* What the laboratory shows of a run: Laboratory.screen(text) is {node, player, scrub, show}, where
   `text` are the words, and show(run) draws the frame run.at. */
Laboratory.screen = (text) => {
  const { html, box, button, legend, axes, percent } = Figures;
  const { range, colour, isXor, isSquared, hasFeedback, groupsOf, called, paint, rgb, small, fold } =
    Laboratory;
  const SAMPLES = ["+ +", "− −", "+ −", "− +"];
  let shown = null; // the run, and what stays while it is shown: its neurons' cards

  const scrub = html("input", { type: "range", min: 0, value: 0, "aria-label": "training step" });
  const [player, clock] = [button("pause", () => {}), html("output", { "aria-live": "off" })];
  const canvas = (label, more) => html("canvas", { role: "img", "aria-label": label, ...more });
  const raster = canvas("neurons by samples; the shares say it in numbers");
  const ghost = canvas("neurons by samples, at the end of the run before", { class: "before" });
  const [past, pastWords] = [box("past"), small()];
  const [top, side, key, lossKey] = ["top", "side", "key", "key"].map((name) => box(name));
  const [rasterWords, cardWords, bet] = [small(), small(), box("bet")];
  const [cards, verdict] = [box("cards"), box("verdict")];
  const panel = (label, height) =>
    axes({ label, height, xLabel: "step", yLabel: "" }, {}, text.id);
  const [lossPanel, sharePanel] = [panel("loss", 220), panel("share of the weight", 150)];
  const program = html("pre", { tabindex: 0 });
  const title = (words) => html("h3", {}, words);
  const python = fold("The same in Python", small("From other random weights."), program);
  const forecasts = box("forecasts", title("Six neurons, chosen before training"), cardWords,
    cards);
  const node = html("section", {}, html("h2", {}, html("b", {}, "3"), "Watch it learn"), text,
    html("div", { class: "interactive-player laboratory-player" }, player, scrub, clock), bet,
    box("stage",
      box("one", title("Which samples activate each neuron"), box("raster", top, side, raster), key,
        rasterWords, past),
      box("two", title("Loss"), ...lossPanel.nodes, lossKey,
        title("Share of the network that is …"), ...sharePanel.nodes,
        small("A neuron counts by its weight: the length of its incoming weights times the length "
          + "of its outgoing ones. Colours as for the neurons."))),
    verdict, forecasts, python);

  const keyOf = (entries) => legend(Object.fromEntries(entries.entries()));

  /* What stays during a run. */
  function lay({ chosen, guess, gatings, job, before, start: { order, groups, pi } }) {
    const [G, xor] = [groupsOf(chosen), isXor(chosen)];
    const which = `${hasFeedback(chosen) ? "feedback" : "initial"} weights`;
    top.replaceChildren(...range(G).map((g) =>
      html("span", {}, xor ? SAMPLES[g] : `context ${g + 1}`)));
    side.replaceChildren(...range(G).filter((g) => groups.includes(g)).map((g) => {
      const rows = groups.filter((one) => one === g).length / order.length;
      const style = `top: ${100 * groups.indexOf(g) / order.length}%; height: ${100 * rows}%`;
      return html("span", { style }, xor ? SAMPLES[g] : `${g + 1}`);
    }));
    const names = range(G + 1).reverse()
      .map((k) => [`${colour(k, chosen)} square`, called(k, chosen)]);
    bet.replaceChildren(...gatings.filter((one) => one.key === guess).map(({ sets, k, name }) =>
      html("p", { class: `laboratory-small ${colour(k, chosen)}` }, `Your guess: ${name} `,
        Laboratory.gating(sets, G, 9))));
    key.replaceChildren(...keyOf(names));
    rasterWords.textContent = `Each row is a neuron and each column a sample; blank means silent. `
      + `Rows were sorted before training by the ${xor ? `sample for which a neuron's ${which} `
      + "are strongest" : `context in which a neuron's ${which} are weakest`} `
      + `(left).${xor || isSquared(chosen) || hasFeedback(chosen) ? "" : chosen.turn
        ? " Preferences were shifted then: watch the blocks next to the diagonal."
        : " Watch the blocks on the diagonal."} ${order.length} of ${chosen.hidden} neurons are `
      + `shown${xor || order.length === job.shown ? "." : ": the others lean away from what all "
        + "samples share."}`;
    cardWords.textContent = `Bars: how much the ${which} of a neuron prefer each context. `
      + "Forecast: the neuron falls silent in the context that it prefers least (orange). Right of "
      + "the bars, from the first step to the last: the samples that activate it (filled), context "
      + "1 on top; the forecast is the orange band.";
    const made = pi.map((preferences) => {
      const strip = html("canvas", { role: "img", "aria-label": "samples that activate it" });
      const [least, result] = [preferences.indexOf(Math.min(...preferences)), html("span")];
      const words = small(`Forecast: silent in context ${least + 1}. `, result);
      return { strip, least, result,
        card: box("card", Laboratory.bars(preferences), strip, words) };
    });
    cards.replaceChildren(...made.map(({ card }) => card));
    forecasts.hidden = xor || isSquared(chosen); // where there are none
    python.hidden = hasFeedback(chosen); // of which the package has no network
    if (!python.hidden) program.textContent = Laboratory.program(chosen);
    verdict.replaceChildren();
    past.replaceChildren(...(before ? [pastWords, ghost] : []));
    if (before) {
      pastWords.textContent = `The end of the run before, ${Laboratory.inShort(before.chosen)}:`;
      drawNeurons(ghost, before, before.frames.at(-1), 120);
    }
    return made;
  }

  function curveOf(frames) {
    const all = frames.flatMap(({ step, losses }) =>
      losses.map((loss, i) => [step - losses.length + 1 + i, loss]));
    return all.filter((_, i) => i % Math.ceil(all.length / 600) === 0);
  }

  function drawLoss(run, seen, frame, { x, marks }) {
    const { chosen, job: { every }, start, frames, finished, gatings, curves, earlier, before } = run;
    const most = frames[0].loss;
    const past = before
      ? [[`before: ${Laboratory.inShort(before.chosen)}`, curveOf(before.frames)]] : [];
    const lines = [
      ...past.map(([name, points]) => ["soft", name, points.filter(([step]) => step <= x[1])]),
      ...earlier.map((points) => ["soft", "earlier runs", points.filter(([step]) => step <= x[1])]),
      ...(start.floor > 1e-3 * most
        ? [["soft fine", "best linear network", x.map((step) => [step, start.floor])]] : []),
      ["ink", Laboratory.networkOf(chosen), curveOf(seen)],
      ...(finished ? gatings.map(({ k, key: own, name }) =>
        [`${colour(k, chosen)} dash`, name, curves[own][0].map((loss, i) => [i * every, loss])]) : []),
    ];
    lossPanel.draw({ x, marks, log: true, y: [most * 0.002, most * 1.4],
      label: `loss ${frame.loss.toPrecision(2)} at step ${frame.step}`,
      curves: lines.map(([style, name, points]) => [name, points, style]) });
    const once = new Map(lines.map(([style, name]) => [name, [style, name]]));
    lossKey.replaceChildren(...keyOf([...once.values()]));
  }

  function drawShare({ chosen }, seen, frame, { x, marks }) {
    const below = (k) => seen.map(({ step, share }) =>
      [step, share.slice(0, k).reduce((sum, each) => sum + each, 0)]);
    const all = range(frame.share.length);
    sharePanel.draw({ x, y: [0, 1], marks,
      label: all.map((k) => `${called(k, chosen)}: ${percent(frame.share[k])}`).join(", "),
      areas: all.map((k) => [colour(k, chosen), [...below(k + 1), ...below(k).reverse()]]) });
  }

  function drawNeurons(place, { chosen, start: { order, groups } }, frame, tall) {
    const { activity, on, mass, share } = frame;
    const inks = range(share.length).map((k) => rgb(place, colour(k, chosen)));
    const rows = activity.map((row, r) => ({ top: Math.max(...row),
      ink: inks[on[r].filter(Boolean).length],
      much: 0.2 + 0.8 * Math.sqrt(mass[r] / Math.max(...mass)) }));
    const across = range(order.length).filter((r) => r > 0 && groups[r] !== groups[r - 1]);
    const G = groupsOf(chosen);
    paint(place, [activity[0].length, order.length], tall, (p, r) => {
      const part = activity[r][p] / rows[r].top;
      return [rows[r].ink, part > 0.01 ? (0.4 + 0.6 * part) * rows[r].much : 0];
    }, { across: across.map((r) => r / order.length), down: range(G).map((g) => g / G) });
  }

  /* A neuron's samples over time, and what became of the forecast. */
  function drawCard({ frames, finished, job }, { strip, least, result }, row, index) {
    const [G, samples] = [frames[0].on[row].length, frames[0].activity[0].length];
    const long = finished ? frames.length : Math.ceil(job.steps / job.every) + 1;
    const [ink, orange] = ["ink", "c2"].map((name) => rgb(strip, name));
    paint(strip, [long, samples], 60, (t, p) => {
      if (t <= index && frames[t].activity[row][p] > 0) return [ink, 1];
      return [orange, Math.floor((p * G) / samples) === least ? 0.35 : 0];
    }, { across: range(G).map((g) => g / G) });
    const off = range(G).filter((g) => !frames[index].on[row][g]).map((g) => g + 1);
    const right = !off.includes(least + 1) ? " ✗" : off.length > 1 ? ": more than forecast" : " ✓";
    const partly = off.length > 0 && off.length < G;
    const where = partly ? `silent in ${off.join(" and ")}` : off.length ? "silent in every context"
      : "never silent";
    const mark = partly ? right : ", which is not counted";
    result.textContent = index < 9 ? "" : `It is ${where}${finished ? mark : ""}.`;
  }

  function drawVerdict(run) {
    const { results, words } = Laboratory.judge(run);
    const network = `the ${Laboratory.networkOf(run.chosen)}`;
    verdict.replaceChildren(title(`How far is each gated network from ${network}?`),
      html("div", { class: "laboratory-errors" },
        ...results.flatMap(({ name, error, k, mine }) => [
          html("span", {}, `${name}${mine ? " (your guess)" : ""}`),
          html("i", { class: colour(k, run.chosen), style: `width: ${Math.min(1, error) * 100}%` }),
          html("span", {}, Number.isFinite(error) ? percent(error) : "diverges")])),
      small(`The area between the two loss curves, relative to the area under that of ${network}. `
        + `${isSquared(run.chosen) ? "" : `Where a gated network learns like ${network}, we know `
        + "before training what it will learn, and when: with fixed switches, learning can be "
        + "calculated."}`));
    cardWords.append(Laboratory.score(run.frames.at(-1)));
    return words;
  }

  function show(run) {
    if (shown?.run !== run) shown = { run, made: lay(run) };
    const { job, start, frames, finished } = run;
    const index = Math.floor(run.at);
    const [frame, last] = [frames[index], frames.at(-1)];
    const ended = finished && frame === last;
    player.textContent = run.playing ? "pause" : ended ? "replay" : "play";
    scrub.value = index;
    clock.textContent = `step ${frame.step}`;
    scrub.setAttribute("aria-valuetext", clock.textContent);
    const end = finished ? last.step : job.steps;
    const axis = { x: [0, end],
      marks: finished && !ended ? [[frame.step, "now"]] : [] };
    const seen = finished ? frames : frames.slice(0, index + 1);
    const longest = Math.max(end, run.before?.frames.at(-1).step ?? 0);
    drawLoss(run, seen, frame, { ...axis, x: [0, longest] });
    drawShare(run, seen, frame, axis);
    drawNeurons(raster, run, frame, 340);
    shown.made.forEach((card, c) => drawCard(run, card, start.cards[c], index));
    if (ended) shown.words ??= drawVerdict(run);
    const words = ended ? shown.words : Laboratory.story(run, frame);
    if (text.textContent !== words) text.textContent = words; // else it is read out again
  }
  new MutationObserver(() => shown && show(shown.run))
    .observe(document.documentElement, { attributeFilter: ["data-theme"] });
  return { node, player, scrub, show, curveOf };
};
