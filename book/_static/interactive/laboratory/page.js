"use strict";

/* The laboratory: make a task, guess, watch. */
Figures.define("laboratory", (_, ui) => {
  const { html, box, button, exponent } = Figures;
  const { ACTIVATIONS, LOSSES, PRESETS, RATES, RULES, SCALES, colour, fold, groupsOf, isXor, small } =
    Laboratory;
  const KEYS = ["contexts", "items", "margin", "activation", "rule", "loss", "hidden", "scale",
    "rate", "steps", "turn"];
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  const screen = Laboratory.screen(ui.text);
  let chosen = Laboratory.fromAddress(location.hash);
  let [shownBlocks, shownGatings, guess, run, earlier, before] = [null, null, null, null, [], null];

  /* ---- Make a task ---- */

  const presets = Object.entries(PRESETS).map(([task, [name]]) =>
    button(name, () => take(Laboratory.preset(task), true), { "data-task": task }));
  const [about, thumbnails, tiles] =
    [html("p", { role: "status" }), box("thumbnails"), box("tiles")];
  const [margin, drawing] = [box("controls"), fold("Draw your own")];
  const rows = html("p");
  const placeOf = (b) => (b ? `in context ${b}` : "in every context");

  function showTask() {
    const address = Laboratory.toAddress({ ...chosen, seed: 0 });
    presets.forEach((node) =>
      node.setAttribute("aria-pressed", address === `#task=${node.dataset.task}`));
    about.textContent = Laboratory.describe(chosen);
    rows.textContent = Laboratory.reading(chosen);
    [margin.hidden, drawing.hidden] = [!isXor(chosen), isXor(chosen)];
    thumbnails.replaceChildren(...chosen.blocks.map(([, rows], b) =>
      html("div", {}, Laboratory.squares(rows, 5, 0.6), small(placeOf(b)))));
    if (shownBlocks === chosen.blocks) return; // what has the focus is not built anew
    shownBlocks = chosen.blocks;
    tiles.replaceChildren(...chosen.blocks.map((_block, b) => tileOf(b)));
  }
  function tileOf(b) {
    const open = tiles.children[b]?.open ?? (b === 0 || window.innerWidth > 600);
    return Laboratory.tile(chosen.blocks[b], placeOf(b), open, (block, anew) => {
      chosen.blocks[b] = block;
      if (anew) {
        tiles.children[b].replaceWith(tileOf(b));
        tiles.children[b].querySelector("select").focus();
      }
      chosen.seed = 0;
      changed();
    });
  }

  /* ---- Guess ---- */

  const bets = html("fieldset", { class: "laboratory-bets" });
  function showGatings() {
    const made = Laboratory.gatings(chosen);
    const now = JSON.stringify(made.map(({ sets }) => sets));
    if (now === shownGatings) return;
    [shownGatings, guess] = [now, null];
    const question = `Which gated network will learn like the ${Laboratory.networkOf(chosen)}?`;
    bets.replaceChildren(html("legend", {}, question),
      ...made.map(({ key, sets, name, k }) => {
        const input = html("input", { type: "radio", name: "laboratory-guess" });
        input.addEventListener("change", () => {
          guess = key;
          showSettings();
        });
        const linear = k === groupsOf(chosen) ? " (a linear network)"
          : isXor(chosen) ? "" : ", and one group never";
        return html("label", { class: colour(k, chosen) }, input,
          Laboratory.gating(sets, groupsOf(chosen)), html("span", {}, name + linear));
      }));
  }
  const go = button("", () => train(1), { class: "interactive-button laboratory-go" });
  const again = button("train again from another start", () => train(chosen.seed + 1));
  const settings = html("summary");
  function showSettings() {
    const { blocks, activation, rule, loss, hidden } = chosen;
    again.hidden = !run; // of the same task
    const nothing = !isXor(chosen) && !blocks.flat(3).some((value) => value > 0);
    go.disabled = again.disabled = nothing;
    go.textContent = nothing ? "Draw something first" : guess ? "Train" : "Train without a guess";
    settings.textContent = [ACTIVATIONS[activation], RULES[rule], LOSSES[loss], `${hidden} neurons`]
      .join(" · ");
  }

  /* ---- What is chosen: by presets and addresses, or one by one ---- */

  /* The address is that of the task, and of a run if there is one. What Back leads to, an address of
     its own, are presets and runs; what is changed step by step has one address. */
  function remember(anew) {
    const address = Laboratory.toAddress(chosen);
    if (address === location.hash) return;
    try {
      history[anew ? "pushState" : "replaceState"](null, "", address);
    } catch { /* an address is a convenience */ }
  }
  function take(next, anew) {
    chosen = next;
    changed(anew);
    ui.set(Object.fromEntries(KEYS.map((key) => [key, chosen[key]])));
  }
  function changed(anew) {
    remember(anew || run);
    if (run?.finished) before = run;
    stop();
    showTask();
    showGatings();
    showSettings();
    screen.node.hidden = true;
  }
  function draw(values) {
    const next = { ...chosen, ...values };
    const same = (...keys) => keys.every((key) => next[key] === chosen[key]);
    if (!shownBlocks) visit(chosen);
    else if (!same(...KEYS)) {
      if (!same("activation", "rule", "loss")) shownGatings = null; // another question: nothing is guessed yet
      if (!same("rule")) next.rate = RATES[next.rule];
      if (!same("activation")) next.scale = SCALES[next.activation];
      next.seed = 0;
      take(same("contexts", "items") ? next : Laboratory.fill(next, next.blocks));
    }
    return { text: ui.text.textContent };
  }
  /* A task, and its run if the address has a seed. */
  function visit(next) {
    take(next);
    if (next.seed && !go.disabled) train(next.seed);
  }
  window.addEventListener("hashchange", () => {
    shownGatings = null; // nothing is guessed yet
    about.parentNode.scrollIntoView();
    go.focus({ preventScroll: true }); // what comes next
    visit(Laboratory.fromAddress(location.hash));
  });

  /* ---- Train, in a worker ---- */

  function stop() {
    run?.worker?.terminate();
    run = null;
  }
  function train(seed) {
    const address = Laboratory.toAddress({ ...chosen, seed: 0 });
    if (run?.finished && run.chosen.seed !== seed) earlier.push(screen.curveOf(run.frames));
    if (run?.address !== address) earlier = [];
    stop();
    chosen = { ...chosen, seed };
    remember(true);
    if (before?.address === address) before = null; // it is one of the earlier, or the same again
    run = { address, chosen, guess, earlier, before, job: Laboratory.job(chosen),
      gatings: Laboratory.gatings(chosen), frames: [], curves: {}, at: 0 };
    screen.node.hidden = again.hidden = false;
    ui.text.textContent = "It begins.";
    compute(run);
    play(!still.matches);
    screen.node.scrollIntoView({ behavior: still.matches ? "auto" : "smooth", block: "start" });
  }
  function receive(started, part) {
    if (part.kind === "frame") started.frames.push(part);
    else if (part.kind === "gated") (started.curves[part.key] ??= []).push(part.curve);
    else started[part.kind] = part; // start, complete
  }
  function compute(started) {
    const source = `${makeRules} ${makeNetworks} ${makeEngine}
      onmessage = ({ data }) => { for (const part of makeEngine().run(data)) postMessage(part); };`;
    const file = new Blob([source], { type: "text/javascript" });
    started.worker = new Worker(URL.createObjectURL(file));
    started.worker.onmessage = ({ data }) => receive(started, data);
    started.worker.postMessage(started.job);
  }

  /* ---- Watch ---- */

  const isLast = ({ frames, at }) => at >= frames.length - 1;
  function play(on) {
    run.playing = on;
    run.then = null;
    if (!run.ticking) requestAnimationFrame((now) => tick(run, now));
    run.ticking = true;
  }
  function tick(started, now) {
    if (run !== started) return;
    const last = started.frames.length - 1;
    const passed = (now - (started.then ?? now)) / 1000;
    const { steps, every } = started.job; // all that may come: the slider goes one way
    screen.scrub.max = started.complete ? last : Math.ceil((steps - 1) / every);
    started.then = now;
    if (still.matches && started.complete && !started.finished) started.at = last;
    if (started.playing) { // slower at first; ten seconds in all
      started.at = Math.max(0, Math.min(last, started.at + passed * (8 + started.at / 6)));
    }
    if (started.complete && isLast(started)) {
      started.finished = true;
      started.playing = false;
    }
    const shown = `${Math.floor(started.at)} ${started.finished} ${started.playing}`;
    if (last >= 0 && shown !== started.shown && (started.complete || !still.matches)) {
      started.shown = shown;
      screen.show(started);
    }
    started.ticking = started.playing || !started.finished;
    if (started.ticking) requestAnimationFrame((then) => tick(started, then));
  }
  screen.player.addEventListener("click", () => {
    if (!run.playing && run.finished && isLast(run)) run.at = 0;
    play(!run.playing);
  });
  screen.scrub.addEventListener("input", () => {
    run.at = Math.min(Number(screen.scrub.value), run.frames.length - 1);
    play(false);
  });

  const step = (number, title, ...children) => html("section", {},
    html("h2", {}, html("b", {}, number), title), ...children);

  return {
    choices: {
      activation: { label: "activation:", names: ACTIVATIONS, value: chosen.activation },
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
      screen.node.hidden = true;
      margin.append(sliders.margin.node);
      drawing.append(box("controls", sliders.contexts.node, sliders.items.node), small("Tap a "
        + "square to change it, or use the arrow keys and space. Rows are questions, columns are "
        + "items."), tiles);
      return [box("steps",
        step("1", "Make a task", html("div", { class: "interactive-buttons laboratory-presets" },
          ...presets), about, thumbnails, margin, drawing),
        step("2", "Guess", html("p", {}, "Every ReLU neuron has a switch: it is active for some "
          + "samples and silent for the others, and learning decides for which. In a ",
        html("em", {}, "gated network"), " we set the switches ourselves, before training. With "
          + "fixed switches a network is linear in each sample, and its learning can be "
          + "calculated."), rows,
        bets, html("details", { class: "hide" }, settings, ...Object.values(choices),
          box("controls", sliders.hidden.node, sliders.scale.node, sliders.rate.node,
            sliders.steps.node))),
        html("div", { class: "interactive-buttons laboratory-train" }, go, again)),
      screen.node,
      ];
    },
    draw,
  };
});
