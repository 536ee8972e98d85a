// The frame of every explorer: controls, a picture, a sentence on what it shows, and its table.
// No framework and no network. Colours come from explorers.css, so that both modes have theirs.
"use strict";

const Explorer = (() => {
  const SVG = "http://www.w3.org/2000/svg";

  function fill(node, attributes, children) {
    for (const [name, value] of Object.entries(attributes ?? {})) {
      if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
      else if (value === true) node.setAttribute(name, "");
      else if (value !== false && value != null) node.setAttribute(name, value);
    }
    node.append(...children.flat().filter((child) => child != null));
    return node;
  }

  // h("p", {class: "note"}, "text", child …) makes an element of the page, svg("path", {d: …}) one of a picture.
  const h = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
  const svg = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);

  let counter = 0;
  const fresh = (word) => `explorer-${word}-${++counter}`;

  // A labelled slider. `at` turns its position into the value (the identity if not given), `show` the value into text.
  function slider({ label, min, max, step, value, at = (x) => x, show = String, onchange }) {
    const id = fresh("slider");
    const output = h("output", { for: id });
    const input = h("input", { type: "range", id, min, max, step, value, oninput: () => (update(), onchange()) });
    const update = () => {
      output.textContent = show(at(+input.value));
      input.setAttribute("aria-valuetext", output.textContent);
    };
    update();
    return {
      box: h("div", { class: "explorer-control" }, h("label", { for: id }, label), input, output),
      get value() { return at(+input.value); },
    };
  }

  // A labelled list to choose from; `options` maps values to texts.
  function choice({ label, options, value, onchange }) {
    const id = fresh("choice");
    const items = Object.entries(options).map(([key, text]) => h("option", { value: key, selected: key === value }, text));
    const select = h("select", { id, onchange }, items);
    return {
      box: h("div", { class: "explorer-control" }, h("label", { for: id }, label), select),
      get value() { return select.value; },
      set value(key) { select.value = key; },
    };
  }

  const button = (text, onclick) => h("button", { type: "button", class: "explorer-button", onclick }, text);

  // The parts of an explorer, in reading order.
  function frame(root, controls) {
    const picture = h("div", { class: "explorer-picture" });
    const summary = h("p", { class: "explorer-summary", role: "status", "aria-live": "polite" });
    const table = h("table", { class: "explorer-table" });
    const details = h("details", {}, h("summary", {}, "The values behind the picture"), h("div", { class: "explorer-scroll", tabindex: 0 }, table));
    root.replaceChildren(h("div", { class: "explorer-controls" }, controls.map((c) => c.box ?? c)), picture, summary, details);
    return {
      draw: (...nodes) => picture.replaceChildren(...nodes),
      say: (text) => { if (summary.textContent !== text) summary.textContent = text; },
      tabulate: (...parts) => tabulate(table, ...parts),
    };
  }

  // Fill a table. The first cell of a row is its heading.
  function tabulate(table, caption, head, rows) {
    const cell = (value, i) => h(i ? "td" : "th", i ? {} : { scope: "row" }, value);
    table.replaceChildren(
      h("caption", {}, caption),
      h("thead", {}, h("tr", {}, head.map((text) => h("th", { scope: "col" }, text)))),
      h("tbody", {}, rows.map((row) => h("tr", {}, row.map(cell)))),
    );
  }

  // Draw now and at each new width of the box. Pictures in pixels of the screen keep their letters on a phone.
  function fit(box, draw) {
    let width = 0;
    new ResizeObserver(() => { if (box.clientWidth !== width && (width = box.clientWidth)) draw(width); }).observe(box);
  }

  // What colours mean: rows of [variable, text, look], where the look is "line", "dashed", "area" or "dot".
  const legend = (rows) => h("p", { class: "explorer-legend" },
    rows.map(([colour, text, look = "area"]) => h("span", {}, h("i", { class: look, style: `color: var(--${colour})` }), text)));

  // A picture of the given size in its own units; `title` is its text for screen readers.
  const picture = (width, height, title, ...children) =>
    svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": title }, ...children);

  // Budgets for a slider, twenty steps for each power of ten, round where people look: budget(-20) is 0.1, budget(-6) is 0.5.
  const budget = (position) => +(10 ** (position / 20)).toPrecision(2);

  // A number with so many digits that matter: 73,240 · 0.0303 · 1.2e-7.
  function number(x, digits = 3) {
    if (x === 0) return "0";
    const size = Math.abs(x);
    if (size < 1e-4 || size >= 1e15) return x.toExponential(digits - 1);
    const rounded = +x.toPrecision(digits), decimals = Math.max(0, digits - 1 - Math.floor(Math.log10(Math.abs(rounded))));
    return rounded.toLocaleString("en", { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
  }
  const percent = (share, digits = 0) => `${(100 * share).toFixed(digits)}%`;

  // What a link carries after its #: "a=1&b=2" as an object, and back, without a new entry in the history.
  const LONGEST = 12000; // letters
  const readLink = () => Object.fromEntries(new URLSearchParams(location.hash.length > LONGEST ? "" : location.hash.slice(1)));
  const writeLink = (state) => history.replaceState(null, "", "#" + new URLSearchParams(state));

  // When the page is there, make(root) fills each box that asks for the explorer of this name.
  const register = (name, make) => document.addEventListener("DOMContentLoaded", () => {
    for (const root of document.querySelectorAll(`[data-explorer="${name}"]`)) {
      make(root);
      root.hidden = false;
      root.parentElement.classList.add("explorer-on");
    }
  });
  addEventListener("hashchange", () => { if (location.hash.includes("=")) location.reload(); }); // a link pasted into an open page

  return { register, h, svg, slider, choice, button, frame, tabulate, fit, legend, picture, budget, number, percent, LONGEST, readLink, writeLink };
})();
