"use strict";

/* What the laboratory says of a run {chosen, guess, job, gatings, start, frames, curves}. */
Object.assign(Laboratory, (() => {
  const { PRESETS, isXor, isSquared, hasFeedback, groupsOf, called, power } = Laboratory;
  const { percent } = Figures;
  const ACTIVATIONS = ["ReLU", "squared ReLU"];
  const RULES = ["gradient descent", "momentum", "Adam", "Muon", "feedback alignment"];
  const LOSSES = ["squared loss", "logistic loss"];

  const KINDS = {
    tree: "In a tree, items share the answers of their branches.",
    ring: "On a ring, they share the answers of their neighbours.",
    cross: "A cross is a tree with other branches.",
  };

  /* Learned is all but this share of the first loss; a curve fits that differs by less in area, unless
     it differs from its like by more; and steps by which there is a curve. */
  const [LEARNED, FITS, NOISE, FEWEST] = [0.03, 0.1, 0.04, 20];

  const networkOf = ({ activation }) => `${ACTIVATIONS[activation]} network`;

  /* A run, by its task and what is not usual. */
  const inShort = ({ task, activation, rule, loss, hidden, scale, turn }) => [PRESETS[task][0],
    activation && ACTIVATIONS[activation], RULES[rule], loss && LOSSES[loss],
    turn && "shifted preferences", `${hidden} neurons`, `σ = ${power(scale)}`]
    .filter(Boolean).join(" · ");

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
  function story({ chosen, job: { every }, start: { floor }, frames }, now) {
    const { share, loss, step, right, partly } = now;
    const [most, never] = [frames[0].loss, share.at(-1)];
    const early = " The network still says next to nothing.";
    if (step < 2 * every) {
      return `The weights are small and random. Each neuron is active for some samples.${early}`;
    }
    if (loss < 0.02 * most) return "It is learned.";
    if (isXor(chosen)) {
      return share[1] + share[2] < 0.8 ? "Neurons turn: each grows towards something asked of it."
        : `Most of the network is active for ${share[1] > share[2] ? "one sample" : "two samples"}.`;
    }
    if (loss > 0.9 * most) {
      return never < 0.7 ? `Neurons turn.${early}`
        : "Nearly all of the network is never silent: neurons have turned to what all samples "
          + `share.${early}`;
    }
    const dotted = floor > 1e-3 * most && !isSquared(chosen); // where linear networks stop
    if (dotted && loss < 1.3 * floor) {
      return "What is left can only be learned by neurons that are silent in some contexts."
        + `${partly > 0.5 && right > 0.5 ? " Most fall silent in the context that they preferred"
          + ` least${chosen.turn ? "." : ": the diagonal."}` : ""}`;
    }
    return `${dotted ? "It learns what a linear network can learn, down to the dotted line."
      : "It learns."} Most of the network is ${never < 0.5 ? "silent in some context by now."
      : "never silent."}`;
  }

  /* Gated networks by how far their losses are from the ReLU network's; and, of one gating, from each
     other. */
  function compare({ guess, job: { every }, gatings, frames, curves }) {
    const losses = frames.filter(({ step }) => step % every === 0).map(({ loss }) => loss);
    const results = gatings.map((one) => {
      const [curve, other] = curves[one.key].map((some) => some.slice(0, losses.length));
      const error = (Theory.relativeError(curve, losses) + Theory.relativeError(other, losses)) / 2;
      return { ...one, mine: one.key === guess, learned: curve.at(-1) < LEARNED * losses[0],
        area: curve.reduce((sum, loss) => sum + loss, 0), noise: Theory.relativeError(other, curve),
        error: Number.isFinite(error) ? error : Infinity };
    });
    return results.sort((a, b) => a.error - b.error);
  }

  /* Why nothing can be said of gates. */
  function failure({ step, broken, dead, learned, left, after }) {
    if (broken) return { explodes: "The loss explodes: the learning rate is too large." };
    if (!learned && dead > 0.9) {
      return { died: `${after}: nearly all of the network has died, and is silent for every sample. `
        + "A smaller learning rate or smaller initial weights may help." };
    }
    if (learned && step < FEWEST) {
      return { fast: `It is learned in ${step} steps, too few to compare curves: choose a smaller `
        + "learning rate." };
    }
    return left > 0.9 && { nothing: `${after}: too early to tell. It needs more steps, or a larger `
      + "learning rate." };
  }

  /* At the end: results, and what is said of them, by what it is about. What is hardly farther than
     the closest, by what chance does, is as good. */
  function judge(run) {
    const { chosen, frames } = run;
    const [last, G, results] = [frames.at(-1), groupsOf(chosen), compare(run)];
    const left = last.loss / frames[0].loss;
    const learned = left < LEARNED;
    const after = `After ${last.step + 1} steps ${percent(left)} of the loss is left`;
    const [{ error }] = results;
    const equal = results.filter((one) =>
      one.error <= 1.3 * error + 0.01 + (one.noise + results[0].noise) / 2);
    const noise = Math.max(...equal.map((one) => one.noise));
    const [all, alone] = [equal.length === results.length, equal.length === 1];
    const find = (what) => results.find(what) ?? {};
    const mine = find((one) => one.mine);
    const clear = !(noise > NOISE);
    const linear = clear && learned && all && error < 2 * FITS && find(({ k }) => k === G).learned;
    const fits = clear && !linear && error < FITS;
    const first = fits && alone && equal[0].k === G - 1 && G > 2 && !isXor(chosen);
    const { share } = last;
    const fullest = share.indexOf(Math.max(...share));
    const of = share[fullest] > 0.5 && `${percent(share[fullest])} of the network ends up `
      + called(fullest, chosen);
    const unfinished = !learned && `${after}: more steps may change this.`;
    const said = failure({ ...last, learned, left, after }) || (isSquared(chosen) && {
      squared: "Gated networks do not foretell squared ReLUs, which can learn more than a linear "
        + "network while they are active everywhere.",
      share: of && `${of}.`, unfinished,
    }) || {
      guess: !clear || !mine.name ? "" : !equal.includes(mine) ? `Not “${mine.name}”.`
        : all ? "Your guess is as good as any other."
          : fits && alone ? "You guessed it." : "Your guess is among the closest.",
      linear: linear && "All learn equally well: a linear network is enough, and no neuron has to "
        + "fall silent.",
      noise: !clear && "One gated network from two starts differs from itself by "
        + `${percent(noise)}: too much to compare curves.`
        + `${hasFeedback(chosen) ? "" : " Smaller initial weights help."}`,
      misfit: clear && !linear && !fits && (error < 1 ? "No loss curve fits well: even the closest differs by "
        + `${percent(error)} in area.` : "No gated network learns like it."),
      fit: fits && (alone ? `It learns like “${equal[0].name}”: the curves differ by `
        + `${percent(error)} in area.`
        : `${equal.map(({ name }) => `“${name}”`).join(" and ")} learn almost equally.`),
      lead: first && chosen.rule < 2 && chosen.loss === 0
        && find(({ k }) => k === 1).area > 1.1 * equal[0].area
        && "Its groups see the data of more contexts, so that they have a head start.",
      share: of && `${of}${learned && fits && fullest > 0
        && equal.every(({ k }) => k !== fullest) ? ": curve and neurons disagree." : "."}`,
      unfinished,
    };
    return { results, said, words: Object.values(said).filter(Boolean).join(" ") };
  }

  /* How often the forecasts of gates are right, over all the weight. */
  function score({ right, chance, partly, share }) {
    if (partly < 0.02) return "";
    return ` Of all neurons that fall silent somewhere, ${percent(right)}, by weight, do so in just `
      + "the contexts that they preferred least at the start; by chance it would be "
      + `${percent(chance)}. ${percent(share.at(-1))} of the network is never silent.`;
  }

  return { ACTIVATIONS, RULES, LOSSES, networkOf, inShort, reading, describe, story, judge, score };
})());
