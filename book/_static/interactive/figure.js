"use strict";

/* The frame of the interactive figures: controls, axes with curves, legends, words. A figure is
   `Figures.define(name, make)`; make(data, ui) gets the numbers that the page holds for it, and
   returns
     choices: {name: {label, names}}, whose value is an index
     sliders: {name: {label, min, max, step, value, show}}; max and show may be functions of values
     series: {name: [style, words]}; a style is a colour with "dash", "wide", "dot" or "square", and
       what has words is in the legend
     panels: {name: axes, or a `node` of its own}, each with `series` of its own
     draw(values): what each panel shows, and the sentences that say what is to be seen: `text`
     layout(parts): what the figure holds, if that is not the usual.
   `ui.set` moves sliders, `ui.text` are the sentences. */
var Figures = (() => {
  const makers = {};
  let count = 0;

  const SVG = "http://www.w3.org/2000/svg";

  function fill(node, attributes, children) {
    for (const [name, value] of Object.entries(attributes || {})) node.setAttribute(name, value);
    node.append(...children);
    return node;
  }
  const html = (tag, attributes, ...children) =>
    fill(document.createElement(tag), attributes, children);
  const svg = (tag, attributes, ...children) =>
    fill(document.createElementNS(SVG, tag), attributes, children);
  const box = (name, ...children) => html("div", { class: `interactive-${name}` }, ...children);
  const newId = (name) => `interactive-${name}-${(count += 1)}`;
  function each(entries, make) {
    const made = Object.entries(entries || {}).map(([key, value]) => [key, make(key, value)]);
    return Object.fromEntries(made);
  }

  /* A labelled native slider. What it shows is printed and read out. */
  function slider(name, { label, min, max, step = 1, value, show = String }, values, change) {
    const id = newId(name);
    const output = html("output", { for: id, "aria-live": "off" }); // the slider says its value
    const input = html("input", { type: "range", id, min, step, "data-control": name });
    values[name] = value;
    input.addEventListener("input", () => {
      values[name] = Number(input.value);
      change();
    });
    function refresh() {
      input.max = typeof max === "function" ? max(values) : max;
      input.value = values[name];
      values[name] = Number(input.value);
      output.textContent = show(values[name], values);
      input.setAttribute("aria-valuetext", output.textContent);
    }
    const head = html("span", {}, html("label", { for: id }, label), output);
    return { node: box("control", head, input), refresh };
  }

  /* A choice between a few names, as native radio buttons. */
  function choice(key, { label, names, value = 0 }, values, change) {
    const group = newId("choice");
    const node = html("fieldset", { class: "interactive-choice" }, html("legend", {}, label));
    values[key] = value;
    const inputs = names.map((name, index) => {
      const input = html("input", { type: "radio", name: group, "data-control": name });
      input.addEventListener("change", () => {
        values[key] = index;
        change();
      });
      node.append(html("label", {}, input, html("span", {}, name)));
      return input;
    });
    const refresh = () => inputs.forEach((input, i) => (input.checked = i === values[key]));
    return { node, refresh };
  }

  function button(label, press, attributes) {
    const kind = { type: "button", class: "interactive-button", ...attributes };
    const node = html("button", kind, label);
    node.addEventListener("click", press);
    return node;
  }

  /* A cell of a pattern, which is pressed to change it. */
  const cell = (press, attributes) =>
    button("", press, { class: "interactive-cell", ...attributes });
  function mark(node, on, name, conflict) {
    const said = on ? "on" : "off";
    node.textContent = said;
    node.setAttribute("aria-pressed", Boolean(on));
    node.setAttribute("aria-label", `${name}: ${said}${conflict ? `, ${conflict}` : ""}`);
    node.classList.toggle("bad", Boolean(conflict));
  }

  function legend(series) {
    const entries = Object.values(series || {}).filter(([, words]) => words);
    const marks = (style) => {
      const filled = `fill ${style}`;
      if (/dot/.test(style)) return svg("circle", { cx: 11, cy: 6, r: 4.5, class: filled });
      if (!/square/.test(style)) return svg("path", { d: "M1 6H21", class: `line ${style}` });
      return svg("rect", { x: 7, y: 2, width: 8, height: 8, class: filled });
    };
    const items = entries.map(([style, words]) => html("li", {},
      svg("svg", { width: 22, height: 12, "aria-hidden": "true" }, marks(style)),
      html("span", {}, words)));
    if (items.length === 0) return [];
    return [html("ul", { class: "interactive-legend", role: "list" }, ...items)];
  }

  function ticks([low, high], wanted) {
    const rough = (high - low) / wanted;
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = power * [1, 2, 5, 10].find((factor) => factor * power >= rough * 0.999);
    const found = [];
    for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; k++) {
      found.push(Number((k * step).toPrecision(12)));
    }
    return found;
  }

  const decades = ([low, high]) => Array.from({ length: 21 }, (_, i) => Number(`1e${i - 10}`))
    .filter((value) => low <= value && value <= high);

  /* Axes that are as wide as their place; `equal` ones are a square, `whole` ones have a tick at
     every integer, and `pick(x, y)` is called with a place that is tapped or dragged to. What they
     show, {x, y, curves: [[series, [[x, y], …], style]], points: [[series, x, y, large]],
     areas: [[style, points]], marks: [[x, words]]}, has x and y of its own only if they change;
     y is logarithmic if `log` says so. */
  function axes(panel, series, describedBy) {
    const { title, label, xLabel = TIME, yLabel, whole, equal, pick } = panel;
    const canvas = html("div");
    const styleOf = (name) => (series[name] || [""])[0];
    let [shown, spans] = [null, null];

    function draw(content) {
      shown = content;
      const room = Math.max(220, Math.floor(canvas.clientWidth) || 320);
      const width = equal ? Math.min(room, 340) : room;
      const height = equal ? width : panel.height || 230;
      const [left, right, top, bottom] = [46, width - 16, 18, height - 40];
      const [x, y] = [content.x || panel.x, content.y || panel.y];
      spans = { left, right, top, bottom, x, y };
      const toX = (value) => left + ((value - x[0]) / (x[1] - x[0])) * (right - left);
      const [low, high] = content.log ? y.map(Math.log10) : y;
      const heightOf = (value) => (content.log ? Math.log10(Math.max(value, y[0])) : value);
      const toY = (value) => bottom - ((heightOf(value) - low) / (high - low)) * (bottom - top);
      const line = (d, style) => svg("path", { d, class: style });
      const words = (u, v, anchor, text, attributes) =>
        svg("text", { x: u, y: v, "text-anchor": anchor, ...attributes }, `${text}`);
      const clip = newId("clip");
      const picture = svg(
        "svg",
        {
          width, height, viewBox: `0 0 ${width} ${height}`, role: "img",
          "aria-label": content.label || label,
          "aria-describedby": describedBy,
          "data-frame": [left, right, top, bottom, ...x, ...y].join(" "),
        },
        svg("clipPath", { id: clip },
          svg("rect", { x: left, y: top - 6, width: right - left + 6, height: bottom - top + 6 })),
      );
      for (const value of ticks(x, whole ? x[1] - x[0] : Math.max(3, Math.floor(width / 75)))) {
        picture.append(line(`M${toX(value)} ${top}V${bottom}`, "grid"),
          words(toX(value), bottom + 16, "middle", value));
      }
      for (const value of content.log ? decades(y) : ticks(y, 4)) {
        picture.append(line(`M${left} ${toY(value)}H${right}`, "grid"),
          words(left - 6, toY(value) + 4, "end", value));
      }
      const turned = `translate(11 ${(top + bottom) / 2}) rotate(-90)`;
      picture.append(line(`M${left} ${top}V${bottom}H${right}`, "frame"),
        words((left + right) / 2, height - 6, "middle", xLabel),
        words(0, 0, "middle", yLabel, { transform: turned }));
      for (const [value, text] of content.marks || []) {
        const end = toX(value) > (left + right) / 2;
        picture.append(line(`M${toX(value)} ${top - 4}V${bottom}`, "mark"),
          words(toX(value) + (end ? -4 : 4), top - 6, end ? "end" : "start", text));
      }
      const inside = svg("g", { "clip-path": `url(#${clip})` });
      const far = 2 * y[1] - y[0];
      const pathOf = (points) => `M${points.map(([u, v]) =>
        `${toX(u).toFixed(2)} ${toY(Math.min(v, far)).toFixed(2)}`).join("L")}`;
      for (const [style, points] of content.areas || []) {
        inside.append(svg("path", { d: `${pathOf(points)}Z`, class: `fill ${style}` }));
      }
      for (const [name, points, style = styleOf(name)] of content.curves || []) {
        const finite = points.filter((point) => Number.isFinite(point[1]));
        const d = finite.length ? pathOf(finite) : "";
        inside.append(svg("path", { d, class: `line ${style}`, "data-series": name }));
      }
      picture.append(inside);
      for (const [name, u, v, large] of content.points || []) {
        if (!(v <= y[1])) continue;
        const [style, size] = [`fill ${styleOf(name)}`, large ? 6.5 : 4];
        const [width, height] = [2 * size, 2 * size];
        picture.append(/dash|square/.test(style)
          ? svg("rect", { x: toX(u) - size, y: toY(v) - size, width, height, class: style })
          : svg("circle", { cx: toX(u), cy: toY(v), r: size, class: style }));
      }
      canvas.replaceChildren(picture);
    }

    function moved(event) {
      const { left, right, top, bottom, x, y } = spans;
      const corner = canvas.firstChild.getBoundingClientRect();
      const [u, v] = [event.clientX - corner.left - left, bottom - event.clientY + corner.top];
      const inside = (share, [low, high]) => low + share * (high - low);
      pick(inside(u / (right - left), x), inside(v / (bottom - top), y));
    }
    if (pick) {
      canvas.className = "interactive-plane";
      canvas.addEventListener("click", moved);
      canvas.addEventListener("pointermove", (event) => {
        if (event.buttons === 1 && event.pointerType === "mouse") moved(event);
      });
    }
    new ResizeObserver(() => {
      const width = canvas.firstChild?.getAttribute("width");
      if (shown && Math.abs(width - Math.floor(canvas.clientWidth)) > 1) draw(shown);
    }).observe(canvas);
    return { nodes: [...(title ? [box("title", title)] : []), canvas], draw };
  }

  function build(place) {
    const held = place.querySelector("script[type='application/json']");
    const text = html("p", { id: newId("result"), class: "interactive-result", role: "status",
      "aria-live": "polite" });
    const values = {};
    const set = (changed) => update(Object.assign(values, changed));
    const data = held && JSON.parse(held.textContent);
    const figure = makers[place.dataset.figure](data, { text, set });
    const choices = each(figure.choices, (key, spec) => choice(key, spec, values, update));
    const sliders = each(figure.sliders, (key, spec) => slider(key, spec, values, update));
    const panels = each(figure.panels, (_, panel) => {
      const made = panel.node ? { nodes: [panel.node] }
        : axes(panel, { ...figure.series, ...panel.series }, text.id);
      const node = box("axes", ...made.nodes, ...legend(panel.series));
      node.classList.toggle("wide", Boolean(panel.wide));
      return { node, draw: made.draw };
    });
    const nodes = each(choices, (_, { node }) => node);
    const usual = () => [
      ...Object.values(nodes),
      box("controls", ...Object.values(sliders).map(({ node }) => node)),
      ...legend(figure.series),
      box("panels", ...Object.values(panels).map(({ node }) => node)),
      text,
    ];

    function update() {
      [sliders, choices].flatMap(Object.values).forEach(({ refresh }) => refresh());
      const { text: words, ...drawn } = figure.draw(values);
      for (const [name, content] of Object.entries(drawn)) panels[name].draw(content);
      if (text.textContent !== words) text.textContent = words; // else it is read out again
    }
    place.append(...(figure.layout || usual)({ choices: nodes, sliders, text }));
    update();
  }

  document.addEventListener("DOMContentLoaded", () => {
    for (const place of document.querySelectorAll(".interactive[data-figure]")) {
      place.querySelectorAll(".interactive-fallback").forEach((node) => node.remove());
      build(place);
    }
  });

  /* What several figures need: numbers in sentences, curves, sliders. */
  const TIME = "time (learning rate × step)";
  function power(value) {
    const [digits, exponent] = value.toExponential(1).split("e");
    const raised = [...exponent.replace("+", "")]
      .map((sign) => (sign === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[sign])).join("");
    return digits === "1.0" ? `10${raised}` : `${digits} × 10${raised}`;
  }
  const percent = (share) => `${Math.round(100 * share)}\u00a0%`;
  function signed(value, digits) {
    const size = Math.abs(value).toFixed(digits);
    return value < 0 && Number(size) > 0 ? `−${size}` : size;
  }
  const fixed = (digits) => (value) => value.toFixed(digits);
  const range = (count, low, high) =>
    Array.from({ length: count }, (_, i) => low + ((high - low) * i) / (count - 1));
  const numbers = (count) => Array.from({ length: count }, (_, i) => i + 1);
  const along = (xs, value) => xs.map((x, i) => [x, value(x, i)]);
  const exponent = (value) => power(10 ** value);
  const scale = (min, max, step, value) =>
    ({ label: "initial scale σ", min, max, step, value, show: exponent });

  return {
    define: (name, make) => (makers[name] = make),
    html, svg, box, button, cell, legend, axes, mark, percent, signed, fixed, range, numbers, along,
    exponent, scale,
  };
})();
