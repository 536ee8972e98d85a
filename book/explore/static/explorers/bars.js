// Splits of a budget side by side: what each gives to each level, and the error that follows.
"use strict";

const Bars = (() => {
  const { svg, picture, percent, number } = Explorer, { sum } = Solver;
  const HEAD = 30, ROW = 54, BAR = 26, LABEL = 20, GAP = 36;
  const colour = (i) => `level-${(i % 6) + 1}`; // a level has its colour in every bar

  // A name, a note, and a bar of pieces, with texts where there is room.
  function row(y, { name, note, widths, texts, pale }) {
    let at = 0;
    const pieces = widths.map((width, i) => {
      const x = at, roomy = texts && width > 34;
      at += width;
      return [svg("rect", { x, y: y + LABEL, width, height: BAR, class: "explorer-piece", style: `fill: var(--${colour(i)})` }),
        roomy ? svg("text", { x: x + width / 2, y: y + LABEL + 18, "text-anchor": "middle", style: `fill: var(--on-${colour(i)}, #111)` }, texts[i]) : null];
    });
    return [svg("text", { y: y + 13 }, svg("tspan", { "font-weight": 600 }, name), name && note ? " · " : "", note), ...pieces.flat(),
      pale ? svg("rect", { x: at, y: y + LABEL, width: pale, height: BAR, class: "explorer-pale" }) : null];
  }
  const panel = (x, y, title, rows) => svg("g", { transform: `translate(${x} ${y})` },
    svg("text", { y: 14, class: "explorer-label" }, title), ...rows.map((r, i) => row(HEAD + ROW * i, r)));

  const panelWidth = (width) => (width < 600 ? width : (width - GAP) / 2); // on a phone, one below the other

  // `splits` are {name, note, eps, errors}. With `upTo` 2, errors are lower bounds, and a pale piece reaches to twice as much.
  function draw(width, unit, splits, upTo = 1) {
    const each = panelWidth(width), wide = each < width, height = HEAD + ROW * splits.length;
    const most = upTo * Math.max(...splits.map((s) => sum(s.errors)));
    const shares = splits.map(({ name, eps }) => {
      const all = sum(eps);
      return { name, note: "", widths: eps.map((e) => (each * e) / all), texts: eps.map((e) => percent(e / all)) };
    });
    const errors = splits.map(({ name, note, errors }) => {
      const widths = errors.map((e) => (each * e) / most);
      return { name: wide ? "" : name, note, widths, pale: (upTo - 1) * sum(widths) };
    });
    const text = "How each split shares the budget, and its error, as stacked bars. Text and table below have the numbers.";
    return picture(width, wide ? height : 2 * height + 16, text,
      panel(0, 0, "share of the budget", shares), panel(wide ? each + GAP : 0, wide ? 0 : height + 16, unit, errors));
  }

  // Width and middle of a row's bar in the first panel, in pixels.
  const place = (width, i) => ({ width: panelWidth(width), middle: HEAD + ROW * i + LABEL + BAR / 2 });

  // "4.6 times as much", "0.02% more" or "as much".
  function compare(ratio) {
    if (ratio < 1 + 5e-6) return "as much";
    return ratio < 1.1 ? `${number(100 * (ratio - 1), 1)}% more` : `${number(ratio, 2)} times as much`;
  }

  return { draw, place, compare, colour };
})();
