"use strict";

/* What the laboratory says of a run {chosen, guess, job, gatings, start, frames, curves}. */
Object.assign(Laboratory, (() => {
  const { isXor, groupsOf, called } = Laboratory;
  const { percent } = Figures;

  const KINDS = {
    tree: "In a tree, items share the answers of their branches.",
    ring: "On a ring, they share the answers of their neighbours.",
    cross: "A cross is a tree with other branches.",
  };

  function titleOf(chosen) {
    const [name] = Laboratory.PRESETS[chosen.task];
    const address = Laboratory.toAddress(chosen);
    if (address.includes("blocks=")) return "A new task.";
    return `${name[0].toUpperCase()}${name.slice(1)}`
      + `${address === `#task=${chosen.task}` ? "" : ", changed"}.`;
  }

  /* How to read the pictures of gatings. */
  function reading(chosen) {
    return isXor(chosen)
      ? "In each picture a row is a group of neurons and a column is one of the four samples, in "
        + "the order + +, − −, + −, − +. Filled means active."
      : "In each picture a row is a group of neurons and a column is a context. Filled means "
        + "active. The group of the first row is active in every context, and can learn what they "
        + "share.";
  }

  function describe({ margin, opposite, task, blocks }) {
    if (task === "xor") {
      return "Do two inputs differ? The answer is −1 if they do and +1 if they are equal. A third "
        + `input gives the answer away: it is −${margin} for the answer −1 and +${margin} for +1.`;
    }
    const used = new Set(blocks.map(([name]) => name));
    const kinds = Object.entries(KINDS).map(([name, words]) => (used.has(name) ? ` ${words}` : ""));
    const count = blocks[0][1].length;
    return "The input is an item and a context, such as a robin in water. The network answers "
      + `${count} questions that are the same in every context, and ${count} more for each context. `
      + `Those of the other contexts are to be answered with ${opposite ? "the opposite" : "0"}. In `
      + `each picture rows are questions and columns are items.${kinds.join("")}`;
  }

  /* At a frame, while it learns. */
  function story({ chosen, job: { every }, start: { floor }, frames }, { share, loss, step }) {
    const [most, never] = [frames[0].loss, share.at(-1)];
    const early = " The network still says next to nothing.";
    if (step < 2 * every) {
      return `The weights are small and random. Each neuron is active for some samples.${early}`;
    }
    if (loss < 0.02 * most) return "It is learned.";
    if (isXor(chosen)) {
      return share[1] + share[2] < 0.8 ? "Neurons turn: each grows towards something asked of it."
        : share[1] > share[2] ? "Most of the network is active for one sample."
          : "Most of the network is active for two samples: it reads the third input.";
    }
    if (loss > 0.9 * most && never < 0.7) return `Neurons turn.${early}`;
    if (loss > 0.9 * most) {
      return "Nearly all of the network is never silent: neurons have turned to what all samples "
        + `share.${early}`;
    }
    if (floor === null) {
      return never < 0.5 ? "It learns. Most of the network is silent in some context by now."
        : "It learns, and most of the network is never silent: this loss hardly asks for more.";
    }
    if (loss > 1.3 * floor) {
      return "In stages it learns what a linear network can learn, down to the dotted line. "
        + "Meanwhile neurons begin to fall silent.";
    }
    return "What is left can only be learned by neurons that are silent in some contexts. Most "
      + `fall silent where they were weakest at the start${chosen.turn ? "." : ": the diagonal."}`;
  }

  const SPEEDS = { 2: "Adam moves every weight", 3: "Muon moves every direction" };

  /* At the end: gated networks by how far their losses are from the ReLU network's, and words.
     What is hardly farther than the closest is as good. */
  function judge({ chosen, guess, job: { every }, gatings, frames, curves }) {
    const { share, broken } = frames.at(-1);
    const losses = frames.filter(({ step }) => step % every === 0).map(({ loss }) => loss);
    const results = gatings.map((one) => ({ ...one, mine: one.key === guess,
      error: Theory.relativeError(curves[one.key].slice(0, losses.length), losses) }));
    results.sort((a, b) => a.error - b.error);
    const [{ error }] = results;
    const equal = results.filter((one) => one.error < 1.3 * error + 0.01);
    const names = equal.map(({ name }) => `“${name}”`).join(" and ");
    const mine = results.find((one) => one.mine);
    const linear = equal.some(({ k }) => k === groupsOf(chosen)) && !isXor(chosen);
    const fullest = share.indexOf(Math.max(...share));
    const words = broken ? ["The loss explodes: the learning rate is too large."] : [
      !mine ? "" : !equal.includes(mine) ? `Not “${mine.name}”.`
        : equal.length > 1 ? "Your guess is as good as any other." : "You guessed it.",
      linear ? "All learn equally well: a linear network is enough, and no neuron has to fall silent."
        : equal.length > 1 ? `${names} learn almost equally.`
          : `${error > 0.07 ? "No loss curve fits well; the closest is" : "It learns like"} `
            + `${names}: the curves differ by ${percent(error)} in area.`,
      chosen.rule < 2 && chosen.loss === 0 && equal.length === 1 && !isXor(chosen)
        && equal[0].k === groupsOf(chosen) - 1 && groupsOf(chosen) > 2
        && "Its groups see the data of more contexts, so that they have a head start.",
      SPEEDS[chosen.rule] && `${SPEEDS[chosen.rule]} at one speed: no group has a head start.`,
      `${percent(share[fullest])} of the network ends up ${called(fullest, chosen)}`
        + `${equal.some(({ k }) => k === fullest) ? "." : ": curve and neurons disagree."}`,
    ];
    return { results, words: words.filter(Boolean).join(" ") };
  }

  /* How often the forecasts of gates are right, over all the weight. */
  function score({ right, chance, partly, share }) {
    if (partly < 0.02) return "";
    return ` Of all neurons that fall silent somewhere, ${percent(right)}, by weight, do so in just `
      + "the contexts that they preferred least at the start; by chance it would be "
      + `${percent(chance)}. ${percent(share.at(-1))} of the network is never silent.`;
  }

  return { titleOf, reading, describe, story, judge, score };
})());
