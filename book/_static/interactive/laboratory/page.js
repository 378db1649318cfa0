"use strict";

/* The laboratory: make a task, guess, watch. */
Figures.define("laboratory", (_, ui) => {
  const { html, box, button, legend, axes, percent, exponent } = Figures;
  const { range, PRESETS, RATES, isXor, groupsOf, called } = Laboratory;
  const KEYS = ["contexts", "items", "margin", "rule", "loss", "hidden", "scale", "rate", "steps",
    "turn"];
  const RULES = ["gradient descent", "momentum", "Adam", "Muon"];
  const LOSSES = ["squared loss", "logistic loss"];
  const SAMPLES = ["+ +", "− −", "+ −", "− +"];
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  const small = (...children) => html("p", { class: "laboratory-small" }, ...children);
  const fold = (title, ...children) =>
    html("details", {}, html("summary", {}, title), ...children);
  let chosen = Laboratory.fromAddress(location.hash);
  let [shownBlocks, shownGatings, guess, seed, run, ghosts] = [null, null, null, 1, null, []];

  /* ---- Make a task ---- */

  const presets = Object.entries(PRESETS).map(([task, [name]]) =>
    button(name, () => take(Laboratory.preset(task)), { "data-task": task }));
  const surprise = button("surprise me", () => take(Laboratory.surprise()));
  const [about, thumbnails, tiles] = [html("p"), box("thumbnails"), box("tiles")];
  const [margin, drawing] = [box("controls"), fold("Draw your own")];
  const placeOf = (b) => (b ? `in context ${b}` : "in every context");

  function describe() {
    const { margin, opposite } = chosen;
    if (isXor(chosen)) {
      return "Answer +1 if two inputs are equal, and −1 if they differ. A third input gives the "
        + `answer away: it is +${margin} for the answer +1 and −${margin} for −1.`;
    }
    return "A robin, in water: can it swim? The network is told an item and a context. It answers "
      + "with the item's properties: those that it has in every context, and those that it has in "
      + `this one.${opposite ? " For every other context it answers with the opposite." : ""}`;
  }
  function showTask() {
    const address = Laboratory.toAddress(chosen);
    presets.forEach((node) =>
      node.setAttribute("aria-pressed", address === `#task=${node.dataset.task}`));
    about.textContent = describe();
    [margin.hidden, drawing.hidden] = [!isXor(chosen), isXor(chosen)];
    thumbnails.replaceChildren(...chosen.blocks.map(([, rows], b) =>
      html("div", {}, Laboratory.squares(rows, 5, 0.6), small(placeOf(b)))));
    if (shownBlocks === chosen.blocks) return; // what has the focus is not built anew
    shownBlocks = chosen.blocks;
    tiles.replaceChildren(...chosen.blocks.map((_block, b) => tileOf(b)));
  }
  function tileOf(b) {
    return Laboratory.tile(chosen.blocks[b], placeOf(b), (block, anew) => {
      chosen.blocks[b] = block;
      if (anew) {
        tiles.children[b].replaceWith(tileOf(b));
        tiles.children[b].querySelector("select").focus();
      }
      changed();
    });
  }

  /* ---- Guess ---- */

  function colour(k) {
    const below = groupsOf(chosen) - k;
    if (k < 2) return ["soft", "c1"][k];
    return isXor(chosen) ? ["c3", "c5", "c2"][below] : ["c3", "c2", "c4", "c5"][below];
  }
  const bets = html("fieldset", { class: "laboratory-bets" });
  function showGatings() {
    const made = Laboratory.gatings(chosen);
    const now = JSON.stringify(made.map(({ sets }) => sets));
    if (now === shownGatings) return;
    [shownGatings, guess] = [now, null];
    bets.replaceChildren(html("legend", {}, "Which gated network will learn like it?"),
      ...made.map(({ key, sets, name, k }) => {
        const input = html("input", { type: "radio", name: "laboratory-guess" });
        input.addEventListener("change", () => {
          guess = key;
          showSettings();
        });
        const linear = k === groupsOf(chosen) ? " (a linear network)" : "";
        return html("label", { class: colour(k) }, input,
          Laboratory.gating(sets, groupsOf(chosen)), html("span", {}, name + linear));
      }));
  }
  const go = button("", () => train(), { class: "interactive-button laboratory-go" });
  const again = button("train again from another start", () => {
    seed += 1;
    train();
  });
  const [badge, settings] = [html("strong"), html("summary")];
  function showSettings() {
    const { blocks, rule, loss, hidden, turn } = chosen;
    const nothing = !isXor(chosen) && !blocks.flat(3).some((value) => value > 0);
    go.disabled = again.disabled = nothing;
    go.textContent = nothing ? "Draw something first" : guess ? "Train" : "Train without a guess";
    settings.textContent = [RULES[rule], LOSSES[loss], `${hidden} neurons`].join(" · ");
    badge.textContent = [rule && RULES[rule], loss && LOSSES[loss], turn && "shifted preferences"]
      .filter(Boolean).join(", ");
  }

  /* ---- What is chosen: by presets and addresses, or one by one ---- */

  function take(next) {
    chosen = next;
    changed();
    ui.set(Object.fromEntries(KEYS.map((key) => [key, chosen[key]])));
  }
  function changed() {
    stop();
    showTask();
    showGatings();
    showSettings();
    third.hidden = true;
    try {
      history.replaceState(null, "", Laboratory.toAddress(chosen));
    } catch { /* an address is a convenience */ }
  }
  function draw(values) {
    const next = { ...chosen, ...values };
    const same = (...keys) => keys.every((key) => next[key] === chosen[key]);
    if (!shownBlocks || !same(...KEYS)) {
      if (!same("rule")) next.rate = RATES[next.rule];
      take(same("contexts", "items") ? next : Laboratory.fill(next, next.blocks));
    }
    return { text: ui.text.textContent };
  }
  window.addEventListener("hashchange", () => take(Laboratory.fromAddress(location.hash)));

  /* ---- Train: in a worker, or in slices of time where workers are refused ---- */

  function stop() {
    run?.worker?.terminate();
    if (run) run.over = true;
    run = null;
  }
  function train() {
    const address = Laboratory.toAddress(chosen);
    if (run?.finished) ghosts.push(curveOf(run.frames));
    if (run?.address !== address) ghosts = [];
    stop();
    run = { address, guess, job: Laboratory.job(chosen, seed), gatings: Laboratory.gatings(chosen),
      frames: [], curves: {}, at: 0 };
    third.hidden = false;
    verdict.replaceChildren();
    compute(run);
    play(!still.matches);
    third.scrollIntoView({ behavior: still.matches ? "auto" : "smooth", block: "start" });
  }
  function receive(started, part) {
    if (part.kind === "frame") started.frames.push(part);
    else if (part.kind === "gated") started.curves[part.key] = part.curve;
    else started[part.kind] = part; // start, complete
  }
  function inSlices(started) {
    const parts = makeEngine().run(started.job);
    (function slice() {
      for (const end = performance.now() + 20; performance.now() < end && !started.over;) {
        const { value, done } = parts.next();
        if (done) return;
        receive(started, value);
      }
      if (!started.over) setTimeout(slice);
    })();
  }
  function compute(started) {
    const source = `${makeEngine}
      onmessage = ({ data }) => { for (const part of makeEngine().run(data)) postMessage(part); };`;
    try {
      const file = new Blob([source], { type: "text/javascript" });
      started.worker = new Worker(URL.createObjectURL(file));
      started.worker.onmessage = ({ data }) => receive(started, data);
      started.worker.onerror = () => started.start || inSlices(started);
      started.worker.postMessage(started.job);
    } catch {
      inSlices(started);
    }
  }

  /* ---- Watch ---- */

  const isLast = ({ frames, at }) => at >= frames.length - 1;
  function play(on) {
    run.playing = on;
    run.then = null;
    requestAnimationFrame((now) => tick(run, now));
  }
  function tick(started, now) {
    if (run !== started) return;
    const last = started.frames.length - 1;
    const passed = (now - (started.then ?? now)) / 1000;
    started.then = now;
    if (still.matches && !started.finished) started.at = Math.max(0, last);
    if (started.playing) { // slower at first; ten seconds in all
      started.at = Math.max(0, Math.min(last, started.at + passed * (8 + started.at / 6)));
    }
    if (started.complete && isLast(started)) {
      started.finished = true;
      started.playing = false;
    }
    const shown = `${Math.floor(started.at)} ${started.finished} ${started.playing}`;
    if (last >= 0 && shown !== started.shown) {
      started.shown = shown;
      show(started);
    }
    if (started.playing || !started.finished) requestAnimationFrame((then) => tick(started, then));
  }
  const player = button("pause", () => {
    if (!run.playing && run.complete && isLast(run)) run.at = 0;
    play(!run.playing);
  });
  const scrub = html("input", { type: "range", min: 0, "aria-label": "training step" });
  const clock = html("output", { "aria-live": "off" });
  scrub.addEventListener("input", () => {
    run.at = Number(scrub.value);
    play(false);
  });

  const raster = html("canvas", { role: "img" });
  const [top, side, key, lossKey] = ["top", "side", "key", "key"].map((name) => box(name));
  const rasterWords = small();
  const panel = (label, height) =>
    axes({ label, height, xLabel: "step", yLabel: "" }, {}, ui.text.id);
  const [lossPanel, sharePanel] = [panel("loss", 220), panel("share of the weight", 150)];
  const logarithmic = html("input", { type: "checkbox", checked: "" });
  logarithmic.addEventListener("change", () => run && show(run));
  const [verdict, cards, cardWords] = [box("verdict"), box("cards"), small()];
  const program = html("pre", { tabindex: 0 });
  const forecasts = box("forecasts", html("h3", {}, "Six neurons, chosen before training"),
    cardWords, cards);

  const keyOf = (entries) => legend(Object.fromEntries(entries.entries()));
  function curveOf(frames) {
    const all = frames.flatMap(({ step, losses }) =>
      losses.map((loss, i) => [step - losses.length + 1 + i, loss]));
    return all.filter((_point, i) => i % Math.ceil(all.length / 600) === 0);
  }

  /* What stays during a run. */
  function lay(started) {
    const { start: { order, groups, pi }, gatings } = started;
    const [G, xor] = [groupsOf(chosen), isXor(chosen)];
    started.laid = true;
    top.replaceChildren(...range(G).map((g) =>
      html("span", {}, xor ? SAMPLES[g] : `context ${g + 1}`)));
    side.replaceChildren(...range(G).map((g) => {
      const [from, rows] = [groups.indexOf(g), groups.filter((one) => one === g).length];
      const style = `top: ${(100 * from) / order.length}%; height: ${(100 * rows) / order.length}%`;
      return html("span", { style }, rows ? (xor ? SAMPLES[g] : `${g + 1}`) : "");
    }));
    const named = range(G).reverse().map((k) => [`${colour(k + 1)} square`, called(k + 1, chosen)]);
    const bet = gatings.find((one) => one.key === started.guess);
    key.replaceChildren(...keyOf([...named, ["soft square", called(0, chosen)]]),
      ...(bet ? [html("p", { class: `laboratory-small ${colour(bet.k)}` }, "Your guess: ",
        Laboratory.gating(bet.sets, G, 9))] : []));
    const sorted = xor ? "sample for which they are strongest" : "context in which they are weakest";
    const watch = xor ? "" : chosen.turn ? " Preferences were shifted then: watch the blocks beside "
      + "the diagonal." : " Watch the blocks on the diagonal.";
    rasterWords.textContent = `Each row is one of ${order.length} neurons, each column a sample; `
      + `blank: silent. Before training they are sorted by the ${sorted}.${watch} Neurons that lean `
      + "away from what all samples share soon die, and are left out.";
    raster.setAttribute("aria-label", "neurons by samples; the shares say it in numbers");
    cardWords.textContent = "Bars: how much a neuron's initial weights prefer each context. "
      + "Forecast: it falls silent in the one that it prefers least (orange). Right: the samples "
      + "that activate it (filled), from the first step to the last.";
    started.strips = pi.map((preferences) => {
      const strip = html("canvas", { role: "img", "aria-label": "samples that activate it, by step" });
      const least = preferences.indexOf(Math.min(...preferences));
      const result = html("span");
      const words = small(`Forecast: silent in context ${least + 1}. `, result);
      return { strip, least, result, node: box("card", Laboratory.bars(preferences), strip, words) };
    });
    cards.replaceChildren(...started.strips.map(({ node }) => node));
    forecasts.hidden = xor;
    program.textContent = Laboratory.program(chosen);
  }

  function show(started) {
    const { job: { steps, every }, start, frames, finished, gatings, curves } = started;
    if (!started.laid) lay(started);
    const [index, last] = [Math.floor(started.at), frames.at(-1)];
    const frame = frames[index];
    const ended = finished && index === frames.length - 1;
    player.textContent = started.playing ? "pause" : ended ? "replay" : "play";
    [scrub.max, scrub.value] = [frames.length - 1, index];
    clock.textContent = `step ${frame.step}`;
    scrub.setAttribute("aria-valuetext", clock.textContent);
    const G = groupsOf(chosen);
    const x = [0, finished ? last.step : steps];
    const seen = finished ? frames : frames.slice(0, index + 1);
    const marks = finished && index < frames.length - 1 ? [[frame.step, "now"]] : [];
    const [most, log, floor] = [frames[0].loss, logarithmic.checked, start.floor];
    const lines = [
      ...ghosts.map((points) => ["soft", "earlier runs", points.filter(([s]) => s <= x[1])]),
      ...(floor > 1e-3 * most
        ? [["soft fine", "best linear network", x.map((step) => [step, floor])]] : []),
      ["ink", "ReLU network", curveOf(seen)],
      ...(finished ? gatings.map((one) => [`${colour(one.k)} dash`, one.name,
        curves[one.key].map((loss, i) => [i * every, loss])]) : []),
    ];
    lossPanel.draw({ x, marks, log, y: log ? [most * 0.002, most * 1.4] : [0, most * 1.05],
      label: `loss ${frame.loss.toPrecision(2)} at step ${frame.step}`,
      curves: lines.map(([style, name, points]) => [name, points, style]) });
    lossKey.replaceChildren(...keyOf(Object.values(Object.fromEntries(
      lines.map(([style, name]) => [name, [style, name]])))));
    const below = (k) => seen.map(({ step, share }) =>
      [step, share.slice(0, k).reduce((sum, each) => sum + each, 0)]);
    sharePanel.draw({ x, y: [0, 1], marks,
      label: range(G + 1).map((k) => `${called(k, chosen)}: ${percent(frame.share[k])}`).join(", "),
      areas: range(G + 1).map((k) => [colour(k), [...below(k + 1), ...below(k).reverse()]]) });
    drawRaster(started, frame);
    started.strips.forEach((card, c) => drawCard(started, card, start.cards[c], index));
    if (ended) judge(started);
    const words = ended ? started.words : story(started, frame);
    if (ui.text.textContent !== words) ui.text.textContent = words;
  }

  function drawRaster({ start: { order, groups } }, { activity, on, mass }) {
    const [G, heaviest] = [groupsOf(chosen), Math.max(...mass)];
    const inks = range(G + 1).map((k) => Laboratory.rgb(raster, colour(k)));
    const rows = activity.map((row, r) => ({ top: Math.max(...row),
      ink: inks[on[r].filter(Boolean).length], much: 0.2 + 0.8 * Math.sqrt(mass[r] / heaviest) }));
    const across = range(order.length).filter((r) => r > 0 && groups[r] !== groups[r - 1]);
    Laboratory.paint(raster, [activity[0].length, order.length], 340, (p, r) => {
      const share = activity[r][p] / rows[r].top;
      return [rows[r].ink, share > 0.01 ? (0.4 + 0.6 * share) * rows[r].much : 0];
    }, { across: across.map((r) => r / order.length), down: range(G).map((g) => g / G) });
  }

  /* A neuron's samples over time, and what became of the forecast. */
  function drawCard({ frames, finished, job: { steps, every } }, card, row, index) {
    const G = groupsOf(chosen);
    const long = finished ? frames.length : Math.ceil(steps / every) + 1;
    const samples = frames[0].activity[0].length;
    const [ink, orange] = ["ink", "c2"].map((name) => Laboratory.rgb(card.strip, name));
    Laboratory.paint(card.strip, [long, samples], 60, (t, p) => {
      if (t <= index && frames[t].activity[row][p] > 0) return [ink, 1];
      return [orange, Math.floor((p * G) / samples) === card.least ? 0.35 : 0];
    }, { across: range(G).map((g) => g / G) });
    const off = range(G).filter((g) => !frames[index].on[row][g]).map((g) => g + 1);
    const right = off.includes(card.least + 1) ? (off.length === 1 ? " ✓" : ": more than forecast")
      : " ✗";
    card.result.textContent = index < 9 ? "" : off.length === G ? "It is always silent."
      : off.length ? `It is silent in ${off.join(" and ")}${finished ? right : ""}.`
        : "It is never silent.";
  }

  /* ---- What is said ---- */

  function story({ job: { every }, start, frames }, { share, loss, step }) {
    const G = groupsOf(chosen);
    const most = frames[0].loss;
    if (step < 2 * every) {
      return "The weights are small and random. Each neuron is active for some samples, and the "
        + "network says next to nothing.";
    }
    if (loss < 0.02 * most) return "It is learned.";
    if (isXor(chosen)) {
      if (share[1] + share[2] < 0.8) return "Neurons turn: each grows towards something asked of it.";
      return share[1] > share[2] ? "Most of the weight is active for one sample."
        : "Most of the weight is active for two samples: it reads the third input.";
    }
    if (loss > 0.9 * most) {
      return `${share[G] > 0.7 ? "Nearly all of the weight is never silent: neurons have turned to "
        + "what all samples share." : "Neurons turn."} The network still says next to nothing.`;
    }
    if (start.floor === null) {
      return `It learns. Most of the weight is ${share[G] > 0.5 ? "never silent: with this loss "
        + "little is left that would need silence." : "silent in some context by now."}`;
    }
    if (loss > 1.3 * start.floor) {
      return "In stages it learns what a linear network can learn, down to the dotted line. "
        + "Meanwhile neurons begin to fall silent.";
    }
    return "What is left can only be learned by neurons that are silent in some contexts. Most fall "
      + `silent where they were weakest at the start${chosen.turn ? "." : ": the diagonal."}`;
  }

  /* Which gated network learns like it; what is hardly worse is as good. */
  function judge(started) {
    if (started.words) return;
    const { frames, gatings, curves, job: { every } } = started;
    const { share, broken, right, chance, partly } = frames.at(-1);
    const reference = frames.filter(({ step }) => step % every === 0).map(({ loss }) => loss);
    const results = gatings.map((one) => ({ ...one,
      error: Theory.relativeError(curves[one.key].slice(0, reference.length), reference) }));
    results.sort((a, b) => a.error - b.error);
    const [best] = results;
    const equal = results.filter(({ error }) => error < 1.3 * best.error + 0.01);
    const mine = results.find((one) => one.key === started.guess);
    const G = groupsOf(chosen);
    const linear = equal.some(({ k }) => k === G) && !isXor(chosen);
    const fullest = range(G + 1).reduce((k, other) => (share[other] > share[k] ? other : k));
    const names = equal.map(({ name }) => `“${name}”`).join(" and ");
    const agree = equal.some(({ k }) => k === fullest);
    started.words = broken ? "The loss explodes: the learning rate is too large." : [
      mine && (equal.includes(mine) ? (equal.length > 1 ? "Your guess is as good as any other."
        : "You guessed it.") : `Not “${mine.name}”.`),
      linear ? "All learn alike: a linear network is enough here, and nobody has to fall silent."
        : equal.length > 1 ? `${names} learn almost alike.`
          : `${best.error > 0.1 ? "The closest is" : "It learns like"} ${names}: the losses differ `
            + `by ${percent(best.error)}.`,
      [0, 0, "Adam moves every weight at one speed, so that no group has a head start.",
        "Muon moves every direction at one speed, so that no group has a head start."][chosen.rule],
      `${percent(share[fullest])} of the weight ends up ${called(fullest, chosen)}`
        + `${agree ? "." : ": curve and neurons disagree."}`,
    ].filter(Boolean).join(" ");
    verdict.replaceChildren(html("h3", {}, "How far are their losses from that of the ReLU network?"),
      html("div", { class: "laboratory-errors" }, ...results.flatMap(({ name, error, k, key: own }) => [
        html("span", {}, `${name}${own === started.guess ? " (your guess)" : ""}`),
        html("i", { class: colour(k), style: `width: ${Math.min(100, 100 * error)}%` }),
        html("span", {}, percent(error))])),
      small("The difference is relative to the area under the ReLU network's loss. Where a gated "
        + "network learns like it, we know what it learns, and when, before it is trained: what is "
        + "linear between switches can be calculated."));
    if (partly > 0.02) {
      cardWords.append(` Of all the weight that is silent somewhere, ${percent(right)} is silent just `
        + `where it was forecast, its number of contexts given; by chance it would be `
        + `${percent(chance)}. ${percent(share[G])} of the weight is never silent.`);
    }
  }

  const labelled = (input, words) => html("label", {}, input, ` ${words}`);
  const step = (number, title, ...children) => html("section", {},
    html("h2", {}, html("b", {}, number), title), ...children);
  const third = step("3", "Watch it learn", ui.text, box("stage",
    box("one", html("h3", {}, "Which samples activate each neuron"), box("raster", top, side, raster),
      key, rasterWords),
    box("two", html("h3", {}, "Loss"), ...lossPanel.nodes, lossKey,
      labelled(logarithmic, "logarithmic"), html("h3", {}, "Share of the network’s weight that is …"),
      ...sharePanel.nodes, small("The weight of a neuron is the length of its incoming weights times "
        + "that of its outgoing ones. Colours as beside."))),
  html("div", { class: "interactive-player laboratory-player" }, player, scrub, clock),
  verdict, forecasts,
  fold("The same in Python", small("From other random weights."), program));

  return {
    choices: {
      rule: { label: "rule:", names: RULES, value: chosen.rule },
      loss: { label: "loss:", names: LOSSES, value: chosen.loss },
      turn: { label: "initial preferences:", names: ["as drawn", "shifted to the next context"],
        value: chosen.turn },
    },
    sliders: {
      contexts: { label: "contexts", min: 2, max: 5, value: chosen.contexts },
      items: { label: "items", min: 4, max: 8, step: 4, value: chosen.items },
      margin: { label: "margin Δ", min: 0, max: 2, step: 0.1, value: chosen.margin },
      hidden: { label: "hidden neurons H", min: 20, max: 700, step: 4, value: chosen.hidden },
      scale: { label: "initial scale σ", min: -9, max: -0.5, step: 0.05, value: chosen.scale,
        show: exponent },
      rate: { label: "learning rate", min: -4, max: 0, step: 0.01, value: chosen.rate,
        show: (value) => `${Laboratory.power(value)}` },
      steps: { label: "at most … steps", min: 500, max: 8001, value: chosen.steps },
    },
    layout({ choices, sliders }) {
      third.hidden = true;
      margin.append(sliders.margin.node);
      drawing.append(box("controls", sliders.contexts.node, sliders.items.node), tiles);
      return [
        step("1", "Make a task", html("div", { class: "interactive-buttons laboratory-presets" },
          ...presets, surprise), about, thumbnails,
          margin, drawing),
        step("2", "Guess", html("p", {}, "A ReLU neuron is silent for some samples, and decides for "
          + "which by itself. In a ", html("em", {}, "gated network"), " we decide beforehand; what "
          + "remains is linear, so that its learning can be calculated. A row is a group of neurons, "
          + "a column a context (or a sample of XOR); filled: active."),
        bets, box("buttons", go, again, badge), html("details", {}, settings,
          ...Object.values(choices), box("controls", sliders.hidden.node, sliders.scale.node,
            sliders.rate.node, sliders.steps.node), button("as published: 700 neurons, 8001 steps",
            () => take({ ...chosen, hidden: 700, scale: -5.15, rate: -1.62, steps: 8001 })))),
        third,
      ];
    },
    draw,
  };
});
