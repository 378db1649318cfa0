"use strict";

/* The hidden representation of sixteen items through learning, drawn by multidimensional scaling.
   The chapter computes the places; the page holds them: {times, structures: [{name, places (times x
   items x 2, integers), unit, halfTimes, colours, marks}]}. */
Figures.define("unfolding", ({ times, structures }, ui) => {
  const { html, svg, box, button } = Figures;
  const [first, last] = [times[0], times[times.length - 1]];
  const SECONDS = 12; // from the first to the last time
  const MARKS = {
    o: "M-5 0A5 5 0 1 0 5 0A5 5 0 1 0 -5 0Z", s: "M-4.5 -4.5H4.5V4.5H-4.5Z",
    "^": "M0 -5.5L5.5 4.5H-5.5Z", D: "M0 -6L6 0L0 6L-6 0Z",
  };
  const SIZE = 320;
  const calm = window.matchMedia("(prefers-reduced-motion: reduce)");
  let [now, halfTimes, timer] = [first, [], null];

  const play = button("", () => (timer ? pause() : run()));
  const picture = svg("svg", {
    viewBox: `0 0 ${SIZE} ${SIZE}`, role: "img", class: "interactive-map",
    "aria-label": "Map of the items inside the network", "aria-describedby": ui.text.id,
  });
  const stages = svg("svg", { class: "interactive-stages", height: 14, "aria-hidden": "true" });

  /* Places in the picture at any time, between the two recorded ones. */
  const toPicture = ([x, y]) => [SIZE / 2 + (x * SIZE) / 2200, SIZE / 2 - (y * SIZE) / 2200];
  const placeIn = (frame, i) => toPicture([frame[2 * i], frame[2 * i + 1]]);
  function placesAt({ places, colours }) {
    const step = (last - first) / (times.length - 1);
    const before = Math.min(Math.floor((now - first) / step), times.length - 2);
    const share = (now - first) / step - before;
    const frame = places[before].map((u, k) => (1 - share) * u + share * places[before + 1][k]);
    return colours.map((_, i) => placeIn(frame, i));
  }

  function drawMap(structure) {
    const { colours, marks } = structure;
    const places = placesAt(structure);
    const past = structure.places.filter((_, frame) => times[frame] <= now);
    const point = (place) => place.map((u) => u.toFixed(1)).join(" ");
    const edge = { x: 0.5, y: 0.5, width: SIZE - 1, height: SIZE - 1, rx: 6, class: "ground" };
    picture.replaceChildren(svg("rect", edge));
    places.forEach((place, i) => {
      const way = [...past.map((frame) => placeIn(frame, i)), place];
      const d = `M${way.map(point).join("L")}`;
      picture.append(svg("path", { d, class: "way edge" }),
        svg("path", { d, class: "way", stroke: colours[i] }));
    });
    places.forEach((place, i) => picture.append(svg("path", {
      d: MARKS[marks[i]], transform: `translate(${point(place)})`, class: "item", fill: colours[i],
    })));
    stages.replaceChildren(...halfTimes.map((half) => svg("circle", {
      cx: `${(100 * (half - first)) / (last - first)}%`, cy: 7, r: 4,
      class: half <= now ? "done" : "waiting",
    })));
  }

  function describe(name) {
    const done = halfTimes.filter((half) => half <= now).length;
    const start = `${name[0].toUpperCase()}${name.slice(1)}, time ${now}:`;
    return done === halfTimes.length ? `${start} all ${done} levels of modes are half learned.`
      : `${start} ${done} of ${halfTimes.length} levels of modes are half learned, the next one is `
        + `at time ${Math.round(halfTimes[done])}.`;
  }

  /* With reduced motion nothing moves by itself: a press shows the next stage. */
  function run() {
    if (now >= last) ui.set({ time: first });
    if (calm.matches) {
      const next = halfTimes.map((half) => Math.ceil(half) + 8);
      ui.set({ time: next.find((stage) => stage > now) || last });
      return;
    }
    ui.text.setAttribute("aria-live", "off"); // not every frame is read out
    let [before, shown] = [performance.now(), now];
    const frame = (clock) => {
      shown += ((clock - before) / 1000) * ((last - first) / SECONDS);
      before = clock;
      ui.set({ time: Math.min(last, Math.round(shown)) });
      if (shown < last) timer = requestAnimationFrame(frame);
      else pause();
    };
    timer = requestAnimationFrame(frame);
    label();
  }

  function pause() {
    cancelAnimationFrame(timer);
    timer = null;
    ui.text.setAttribute("aria-live", "polite");
    label();
  }

  function label() {
    play.textContent = calm.matches ? "next stage" : timer ? "pause" : "play";
  }
  calm.addEventListener("change", label);
  label();

  return {
    choices: { structure: { label: "structure", names: structures.map(({ name }) => name) } },
    sliders: { time: { label: "time", min: first, max: last, value: first } },
    layout({ choices, sliders, text }) {
      const { node } = sliders.time;
      node.addEventListener("input", pause);
      return [choices.structure, picture, box("player", play, html("div", {}, node, stages)), text];
    },
    draw({ structure, time }) {
      [now, halfTimes] = [time, structures[structure].halfTimes];
      drawMap(structures[structure]);
      return { text: describe(structures[structure].name) };
    },
  };
});
