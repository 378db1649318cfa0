"use strict";

/* What the interactive figures share: elements, controls, axes with curves. A figure is a function
   `build(figure)` under its name; it fills the element that the page holds for it. */
var Figures = (() => {
  const builders = {};
  let count = 0;

  const SVG = "http://www.w3.org/2000/svg";

  function fill(node, attributes, children) {
    for (const [name, value] of Object.entries(attributes || {})) {
      if (value !== null && value !== undefined) node.setAttribute(name, value);
    }
    node.append(...children);
    return node;
  }
  const html = (tag, attributes, ...children) =>
    fill(document.createElement(tag), attributes, children);
  const svg = (tag, attributes, ...children) =>
    fill(document.createElementNS(SVG, tag), attributes, children);

  const newId = (name) => `interactive-${name}-${(count += 1)}`;

  /* The numbers that the page holds for a figure. */
  const data = (figure) =>
    JSON.parse(figure.querySelector("script[type='application/json']").textContent);

  /* A labelled native slider. `show(value)` is what is printed and read out. */
  function slider({ label, min, max, step, value, show = String, name, change }) {
    const id = newId(name);
    const output = html("output", { for: id, "aria-live": "off" }); // the slider says its value itself
    const input = html("input", { type: "range", id, min, max, step, value, "data-control": name });
    const refresh = () => {
      output.textContent = show(Number(input.value));
      input.setAttribute("aria-valuetext", output.textContent);
    };
    input.addEventListener("input", () => {
      refresh();
      change();
    });
    refresh();
    const head = html("span", {}, html("label", { for: id }, label), output);
    return {
      node: html("div", { class: "interactive-control" }, head, input),
      get value() {
        return Number(input.value);
      },
      set(newValue, newMax = input.max) {
        input.max = newMax;
        input.value = newValue;
        refresh();
      },
    };
  }

  const box = (name) => (...children) => html("div", { class: `interactive-${name}` }, ...children);
  const controls = (...sliders) => box("controls")(...sliders.map(({ node }) => node));
  const panels = box("panels");
  const buttons = box("buttons");

  /* C contexts, pathways that are active in k of them, and their initial scale. */
  function contextControls(exponent, change) {
    const contexts = slider({
      name: "contexts", label: "contexts C", min: 3, max: 8, step: 1, value: 4, change: () => {
        size.set(Math.min(size.value, contexts.value - 1), contexts.value - 1);
        change();
      },
    });
    const size = slider({
      name: "size", label: "pathways active in k contexts", min: 1, max: 3, step: 1, value: 3, change,
    });
    const scale = slider({
      name: "scale", label: "initial scale σ", min: -9, max: -3, step: 0.5, value: exponent, change,
      show: (value) => power(10 ** value),
    });
    return { contexts, size, scale, node: controls(contexts, size, scale) };
  }

  function button(label, press) {
    const node = html("button", { type: "button", class: "interactive-button" }, label);
    node.addEventListener("click", press);
    return node;
  }

  /* A choice between a few names, as native radio buttons. */
  function choice(legend, names, change) {
    const group = newId("choice");
    const set = html("fieldset", { class: "interactive-choice" }, html("legend", {}, legend));
    names.forEach((name, index) => {
      const input = html("input", { type: "radio", name: group, value: index, "data-control": name });
      input.checked = index === 0;
      input.addEventListener("change", () => change(index));
      set.append(html("label", {}, input, html("span", {}, name)));
    });
    return set;
  }

  /* The sentences that say what is to be seen; read out when they change. */
  function result() {
    const id = newId("result");
    return html("p", { id, class: "interactive-result", role: "status", "aria-live": "polite" });
  }

  /* A legend of lines and points: [class of the colour, text, "line" | "dash" | "dot" | "square"]. */
  function legend(entries) {
    const list = html("ul", { class: "interactive-legend", role: "list" });
    for (const [colour, text, kind] of entries) {
      const mark = svg("svg", { width: 22, height: 12, "aria-hidden": "true" });
      if (kind === "dot") mark.append(svg("circle", { cx: 11, cy: 6, r: 4.5, class: `fill ${colour}` }));
      else if (kind === "square") {
        mark.append(svg("rect", { x: 7, y: 2, width: 8, height: 8, class: `fill ${colour}` }));
      } else mark.append(svg("path", { d: "M1 6H21", class: `line ${colour} ${kind}` }));
      list.append(html("li", {}, mark, html("span", {}, text)));
    }
    return list;
  }

  function niceStep(span, wanted) {
    const rough = span / wanted;
    const power = 10 ** Math.floor(Math.log10(rough));
    return power * [1, 2, 5, 10].find((factor) => factor * power >= rough * 0.999);
  }

  function ticks([low, high], wanted) {
    const step = niceStep(high - low, wanted);
    const found = [];
    for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; k++) {
      found.push(Number((k * step).toPrecision(12)));
    }
    return found;
  }

  /* Axes that are as wide as their place. draw({x, y, curves, points, marks}) draws anew:
     x, y: [low, high]; curves: [{name, colour, dash, points: [[x, y], …]}];
     points: [{x, y, colour, square, large}]; marks: vertical lines [{x, text, colour}].
     `equal` axes are a square. */
  function axes({ label, title, xLabel, yLabel, height = 230, whole = false, equal, describedBy }) {
    const place = html("div", { class: "interactive-axes" });
    if (title) place.append(html("div", { class: "interactive-title" }, title));
    let shown = null;

    function draw(content) {
      shown = content;
      const room = Math.max(220, Math.floor(place.clientWidth) || 320);
      const width = equal ? Math.min(room, 340) : room;
      if (equal) height = width;
      const [left, right, top, bottom] = [46, width - 12, 18, height - 40];
      const [x, y] = [content.x, content.y];
      const toX = (value) => left + ((value - x[0]) / (x[1] - x[0])) * (right - left);
      const toY = (value) => bottom - ((value - y[0]) / (y[1] - y[0])) * (bottom - top);
      const clip = newId("clip");
      const picture = svg(
        "svg",
        {
          width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label,
          "aria-describedby": describedBy,
          "data-frame": [left, right, top, bottom, ...x, ...y].join(" "),
        },
        svg("clipPath", { id: clip },
          svg("rect", { x: left, y: top - 6, width: right - left + 6, height: bottom - top + 6 })),
      );
      const xTicks = ticks(x, whole ? x[1] - x[0] : Math.max(3, Math.floor(width / 75)));
      for (const value of xTicks) {
        picture.append(
          svg("path", { d: `M${toX(value)} ${top}V${bottom}`, class: "grid" }),
          svg("text", { x: toX(value), y: bottom + 16, "text-anchor": "middle" }, `${value}`),
        );
      }
      for (const value of ticks(y, 4)) {
        picture.append(
          svg("path", { d: `M${left} ${toY(value)}H${right}`, class: "grid" }),
          svg("text", { x: left - 6, y: toY(value) + 4, "text-anchor": "end" }, `${value}`),
        );
      }
      picture.append(
        svg("path", { d: `M${left} ${top}V${bottom}H${right}`, class: "frame" }),
        svg("text", { x: (left + right) / 2, y: height - 6, "text-anchor": "middle" }, xLabel),
        svg("text", {
          transform: `translate(11 ${(top + bottom) / 2}) rotate(-90)`, "text-anchor": "middle",
        }, yLabel),
      );
      for (const { x: value, text, colour } of content.marks || []) {
        const end = toX(value) > (left + right) / 2;
        picture.append(
          svg("path", { d: `M${toX(value)} ${top - 4}V${bottom}`, class: `mark ${colour || ""}` }),
          svg("text", {
            x: toX(value) + (end ? -4 : 4), y: top - 6, "text-anchor": end ? "end" : "start",
          }, text),
        );
      }
      const inside = svg("g", { "clip-path": `url(#${clip})` });
      for (const { name, colour, dash, points } of content.curves || []) {
        const finite = points.filter((point) => Number.isFinite(point[1]));
        const far = y[1] + (y[1] - y[0]);
        const path = finite.map(([u, v]) => `${toX(u).toFixed(2)} ${toY(Math.min(v, far)).toFixed(2)}`);
        inside.append(svg("path", {
          d: path.length ? `M${path.join("L")}` : "", class: `line ${colour} ${dash ? "dash" : ""}`,
          "data-series": name,
        }));
      }
      picture.append(inside);
      for (const { x: u, y: v, colour, square, large } of content.points || []) {
        if (!(v <= y[1])) continue;
        const size = large ? 6.5 : 4;
        picture.append(square
          ? svg("rect", { x: toX(u) - size, y: toY(v) - size, width: 2 * size, height: 2 * size,
            class: `fill ${colour}` })
          : svg("circle", { cx: toX(u), cy: toY(v), r: size, class: `fill ${colour}` }));
      }
      place.querySelector("svg")?.remove();
      place.append(picture);
    }

    new ResizeObserver(() => {
      const width = place.querySelector("svg")?.getAttribute("width");
      if (shown && Math.abs(width - Math.floor(place.clientWidth)) > 1) draw(shown);
    }).observe(place);
    return { node: place, draw };
  }

  /* Numbers in sentences. */
  const SUPERSCRIPT = { "-": "⁻", 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷",
    8: "⁸", 9: "⁹" };
  function power(value) {
    const [digits, exponent] = value.toExponential(1).split("e");
    const raised = [...exponent.replace("+", "")].map((sign) => SUPERSCRIPT[sign]).join("");
    return digits === "1.0" ? `10${raised}` : `${digits} × 10${raised}`;
  }
  const percent = (share) => `${Math.round(100 * share)}\u00a0%`;
  const range = (count, low, high) =>
    Array.from({ length: count }, (_, i) => low + ((high - low) * i) / (count - 1));

  function start() {
    for (const place of document.querySelectorAll(".interactive[data-figure]")) {
      const build = builders[place.dataset.figure];
      if (!build || place.dataset.ready) continue;
      place.dataset.ready = "yes";
      place.querySelectorAll(".interactive-fallback").forEach((node) => node.remove());
      build(place);
    }
  }
  document.addEventListener("DOMContentLoaded", start);

  return {
    define: (name, build) => (builders[name] = build),
    html, svg, data, slider, controls, contextControls, panels, button, buttons, choice, result, legend,
    axes, power, percent, range,
  };
})();
