"use strict";

/* The hidden representation of sixteen items through learning, drawn by multidimensional scaling.
   The chapter computes the places; the page holds them as JSON:
   {times, structures: [{name, places (times x items x 2, integers), unit, halfTimes, colours, marks}]}. */
Figures.define("unfolding", (figure) => {
  const { html, svg, slider, button, choice, result } = Figures;
  const data = Figures.data(figure);
  const [first, last] = [data.times[0], data.times[data.times.length - 1]];
  const SECONDS = 12; // from the first to the last time
  const MARKS = {
    o: "M-5 0A5 5 0 1 0 5 0A5 5 0 1 0 -5 0Z", s: "M-4.5 -4.5H4.5V4.5H-4.5Z",
    "^": "M0 -5.5L5.5 4.5H-5.5Z", D: "M0 -6L6 0L0 6L-6 0Z",
  };
  const SIZE = 320;
  const calm = window.matchMedia("(prefers-reduced-motion: reduce)");
  let structure = data.structures[0];
  let timer = null;

  const text = result();
  const time = slider({
    name: "time", label: "time", min: first, max: last, step: 1, value: first,
    change: () => {
      pause();
      draw();
    },
  });
  const play = button("", () => (timer ? pause() : run()));
  const picture = svg("svg", {
    viewBox: `0 0 ${SIZE} ${SIZE}`, role: "img", class: "interactive-map",
    "aria-label": "Map of the items inside the network", "aria-describedby": text.id,
  });
  const stages = svg("svg", { class: "interactive-stages", height: 14, "aria-hidden": "true" });

  /* Places at any time, between the two recorded ones. */
  function placesAt(now) {
    const step = (last - first) / (data.times.length - 1);
    const before = Math.min(Math.floor((now - first) / step), data.times.length - 2);
    const share = (now - first) / step - before;
    const mix = (i, axis) => {
      const at = (frame) => structure.places[frame][2 * i + axis];
      return (1 - share) * at(before) + share * at(before + 1);
    };
    return structure.colours.map((_, i) => [mix(i, 0), mix(i, 1)]);
  }

  const toPicture = ([x, y]) => [SIZE / 2 + (x * SIZE) / 2200, SIZE / 2 - (y * SIZE) / 2200];

  function draw() {
    const now = time.value;
    picture.replaceChildren(
      svg("rect", { x: 0.5, y: 0.5, width: SIZE - 1, height: SIZE - 1, rx: 6, class: "ground" }));
    const places = placesAt(now).map(toPicture);
    const past = structure.places.filter((_, frame) => data.times[frame] <= now);
    places.forEach((place, i) => {
      const way = [...past.map((frame) => toPicture([frame[2 * i], frame[2 * i + 1]])), place];
      const d = `M${way.map((point) => point.map((u) => u.toFixed(1)).join(" ")).join("L")}`;
      picture.append(svg("path", { d, class: "way edge" }),
        svg("path", { d, class: "way", stroke: structure.colours[i] }));
    });
    places.forEach(([x, y], i) => picture.append(svg("path", {
      d: MARKS[structure.marks[i]], transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})`,
      class: "item", fill: structure.colours[i],
    })));
    drawStages(now);
    text.textContent = describe(now);
  }

  function drawStages(now) {
    stages.replaceChildren();
    for (const half of structure.halfTimes) {
      const x = `${(100 * (half - first)) / (last - first)}%`;
      stages.append(svg("circle", { cx: x, cy: 7, r: 4, class: half <= now ? "done" : "waiting" }));
    }
  }

  function describe(now) {
    const all = structure.halfTimes;
    const done = all.filter((half) => half <= now).length;
    const name = structure.name[0].toUpperCase() + structure.name.slice(1);
    return done === all.length
      ? `${name}, time ${now}: all ${done} levels of modes are half learned.`
      : `${name}, time ${now}: ${done} of ${all.length} levels of modes are half learned, the next one `
        + `is at time ${Math.round(all[done])}.`;
  }

  /* With reduced motion nothing moves by itself: a press shows the next stage. */
  function run() {
    if (time.value >= last) time.set(first);
    if (calm.matches) {
      const next = structure.halfTimes.map((half) => Math.ceil(half) + 8);
      time.set(next.find((stage) => stage > time.value) || last);
      draw();
      return;
    }
    text.setAttribute("aria-live", "off"); // not every frame is read out
    let [before, shown] = [performance.now(), time.value];
    const frame = (now) => {
      shown += ((now - before) / 1000) * ((last - first) / SECONDS);
      before = now;
      time.set(Math.min(last, Math.round(shown)));
      draw();
      if (shown < last) timer = requestAnimationFrame(frame);
      else pause();
    };
    timer = requestAnimationFrame(frame);
    label();
  }

  function pause() {
    cancelAnimationFrame(timer);
    timer = null;
    text.setAttribute("aria-live", "polite");
    label();
  }

  function label() {
    play.textContent = calm.matches ? "next stage" : timer ? "pause" : "play";
  }

  figure.append(
    choice("structure", data.structures.map(({ name }) => name), (index) => {
      structure = data.structures[index];
      draw();
    }),
    picture,
    html("div", { class: "interactive-player" }, play,
      html("div", {}, time.node, stages)),
    text,
  );
  calm.addEventListener("change", label);
  label();
  draw();
});
