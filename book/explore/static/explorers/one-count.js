// One count: Laplace noise, clipped at zero. The closed forms are Propositions 1 and 2, the picture is that of chapter 2.
"use strict";

const OneCount = {
  atom: (n, eps) => Math.exp(-eps * n) / 2, // probability of releasing exactly zero: everything that the noise pushed below it
  bias(n, eps) {
    const root = Math.exp(-Solver.scaled(n, eps) / 2); // in two halves: exp(-x) may underflow where a tiny ε lifts the bias
    return (root / (2 * eps)) * root;
  },
  variance: (n, eps) => (Solver.h(Solver.scaled(n, eps)) - Math.exp(-2 * Solver.scaled(n, eps)) / 4) / eps / eps,
  share: (n, eps) => OneCount.bias(n, eps) ** 2 / Solver.mse(n, eps),
};

Explorer.register("one-count", (root) => {
  const { svg, h, slider, choice, frame, fit, legend, number, percent } = Explorer, { mse } = Solver, { atom, bias, variance, share } = OneCount;

  // Scales from data to picture: linear(0, 10, 40, 400)(5) is 220; log the same on a logarithmic axis.
  const linear = (d0, d1, r0, r1) => (x) => r0 + ((x - d0) / (d1 - d0)) * (r1 - r0);
  const log = (d0, d1, r0, r1) => (x) => linear(Math.log(d0), Math.log(d1), r0, r1)(Math.log(x));
  const line = (xs, ys) => "M" + xs.map((x, i) => `${x.toFixed(2)},${ys[i].toFixed(2)}`).join("L");

  // The next round number: the axes stay while a slider moves a little, so that the eye sees the curve move, not the numbers.
  const roundUp = (x) => [2, 5, 10, 20, 50, 100, 150, 200, 400].find((r) => r >= x);
  // Round numbers from low to high, at most about `most` of them.
  function ticks(low, high, most) {
    const rough = (high - low) / most, power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((k) => k * power).find((s) => s >= rough), first = Math.ceil(low / step);
    return Array.from({ length: Math.floor((high * (1 + 1e-12)) / step) - first + 1 }, (_, k) => +((first + k) * step).toPrecision(12));
  }
  const xAxis = (scale, values, y, label, middle, show) => svg("g", { class: "explorer-axis" },
    values.map((v) => svg("text", { x: scale(v), y: y + 16, "text-anchor": "middle" }, show(v))),
    values.map((v) => svg("line", { x1: scale(v), x2: scale(v), y1: y, y2: y + 4 })),
    svg("text", { x: middle, y: y + 34, "text-anchor": "middle", class: "explorer-label" }, label));
  const yAxis = (scale, values, x, right, label, show) => svg("g", { class: "explorer-axis" },
    values.map((v) => svg("line", { x1: x, x2: right, y1: scale(v), y2: scale(v), class: "explorer-grid" })),
    values.map((v) => svg("text", { x: x - 6, y: scale(v) + 4, "text-anchor": "end" }, show(v))),
    svg("text", { x: 2, y: 14, class: "explorer-label" }, label));

  // Looks of a picture's parts; colours are the variables of explorers.css, so that they change with the mode.
  const stroke = (colour, width = 2, dash = "none") => `fill: none; stroke: var(--${colour}); stroke-width: ${width}; stroke-dasharray: ${dash}`;
  const CURVES = [["ink", "none", mse], ["optimal", "9 4", variance], ["uniform", "4 3", (n, eps) => bias(n, eps) ** 2]];

  // Numbers in words and on axes.
  const people = (n) => (n === 1 ? "1 person" : `${n} people`);
  const percentOf = (x) => (x >= 0.0995 ? percent(x) : x >= 0.001 ? percent(x, 1) : "under 0.1%");
  const small = (x) => (x < 0.001 ? "less than 0.001" : number(x));
  const minus = (v) => String(v).replace("-", "−");
  const short = (v) => (v >= 1000 ? `${v / 1000}k` : String(v));

  const N = slider({ label: "True count N", min: 0, max: 60, step: 1, value: 2, show: people, onchange: draw });
  const E = slider({ label: "Budget ε", min: -34, max: 14, step: 1, value: -6, at: Explorer.budget, onchange: draw }); // 0.02 to 5
  const over = choice({ label: "Curves over", value: "N", options: { N: "the count", eps: "the budget" }, onchange: draw });
  const view = frame(root, [N, E, over]);
  fit(root, draw);

  function draw() {
    const n = N.value, eps = E.value, width = root.clientWidth;
    if (!width) return;
    view.draw(
      legend([["soft", "before clipping", "dashed"], ["uniform", "below zero: moved onto zero"], ["optimal", "after clipping", "line"]]),
      density(n, eps, width),
      figures(n, eps),
      legend([["ink", "MSE = bias² + variance", "line"], ["optimal", "variance", "dashed"], ["uniform", "bias²", "dashed"]]),
      errors(n, eps, width),
    );
    view.say(sentence(n, eps));
    view.tabulate(
      `One count at ε = ${eps}: bias in people, variance and MSE in people²`,
      ["N", "bias", "variance", "MSE", "bias² in MSE", "exactly zero"],
      [...new Set([n, 0, 1, 2, 5, 10, 20, 60])].sort((a, b) => a - b).map((m) => [
        m === n ? `${m} (yours)` : String(m), number(bias(m, eps)), number(variance(m, eps)), number(mse(m, eps)),
        percentOf(share(m, eps)), percentOf(atom(m, eps)),
      ]),
    );
  }

  const sentence = (n, eps) => `With ${people(n)} and ε = ${eps}, the released count is ${small(bias(n, eps))} people too large on average, and ` +
    `zero in ${percentOf(atom(n, eps))} of the releases. Of the error of ${number(mse(n, eps))} people², ${percentOf(share(n, eps))} is squared bias.`;

  const figures = (n, eps) => h("dl", { style: "display: grid; grid-template-columns: repeat(auto-fit, minmax(7rem, 1fr)); gap: 0.4rem 1rem; margin: 1.2rem 0" }, [
    ["Bias", `${small(bias(n, eps))} people`], ["Variance", `${number(variance(n, eps))} people²`], ["MSE", `${number(mse(n, eps))} people²`],
    ["Bias² in MSE", percentOf(share(n, eps))], ["Exactly zero", percentOf(atom(n, eps))],
  ].map(([name, value]) => h("div", {}, h("dt", { style: "font-weight: 400; color: var(--soft)" }, name), h("dd", { style: "margin: 0; font-weight: 600" }, value))));

  // The density of the noisy count, and the atom on an axis of its own: one is a density, the other a probability.
  function density(n, eps, width) {
    const height = 270, left = 44, right = width - 40, top = 52, bottom = height - 42;
    const high = roundUp(Math.max(n * 1.25, n + 5 / eps)), low = -0.4 * high;
    const x = linear(low, high, left, right), y = linear(0, eps / 2, bottom, top), mass = linear(0, 1, bottom, top);
    const at = (z) => (eps / 2) * Math.exp(-eps * Math.abs(z - n));
    // One point a pixel, and the corners at 0 and N, which no grid would hit.
    const grid = Array.from({ length: Math.ceil(right - left) + 1 }, (_, i) => low + ((high - low) * i) / Math.ceil(right - left));
    const zs = [...grid, 0, n].sort((a, b) => a - b);
    const path = (points) => line(points.map(x), points.map((z) => y(at(z))));
    const below = zs.filter((z) => z <= 0), above = zs.filter((z) => z >= 0), mean = n + bias(n, eps);
    const title = `Density of a count of ${n} released with ε = ${eps}. The part below zero, ${percentOf(atom(n, eps))}, is moved onto zero; the mean moves from ${n} to ${number(mean)}.`;
    return Explorer.picture(width, height, title,
      yAxis(y, ticks(0, eps / 2, 4), left, right, "density (per person)", String),
      xAxis(x, ticks(low, high, width < 500 ? 5 : 8), bottom, "released count (people)", (left + right) / 2, minus),
      massAxis(mass, right),
      svg("path", { d: `${path(below)}L${x(0)},${bottom}L${left},${bottom}Z`, style: "fill: var(--uniform); opacity: 0.35" }),
      svg("path", { d: path(below), style: stroke("soft", 1.5, "5 4") }),
      svg("path", { d: path(above), style: stroke("optimal", 2.5) }),
      svg("line", { x1: x(n), x2: x(n), y1: top - 20, y2: bottom, style: stroke("truth", 1.5) }),
      svg("line", { x1: x(mean), x2: x(mean), y1: top - 20, y2: bottom, style: stroke("yours", 1.5) }),
      svg("text", { x: x(n) - 5, y: top - 10, "text-anchor": "end" }, `N = ${n}`),
      svg("text", { x: x(mean) + 5, y: top - 10 }, `mean ${mean < 100 ? number(mean, mean < 10 ? 3 : 4) : mean.toFixed(1)}`),
      svg("line", { x1: x(0), x2: x(0), y1: mass(atom(n, eps)), y2: bottom, style: stroke("uniform", 4) }),
      svg("circle", { cx: x(0), cy: mass(atom(n, eps)), r: 6, style: "fill: var(--uniform)" }),
    );
  }

  const massAxis = (mass, x) => svg("g", { class: "explorer-axis" },
    svg("line", { x1: x, x2: x, y1: mass(0), y2: mass(1) }),
    [0, 0.5, 1].map((v) => svg("line", { x1: x, x2: x + 4, y1: mass(v), y2: mass(v) })),
    [0, 0.5, 1].map((v) => svg("text", { x: x + 8, y: mass(v) + 4 }, v)),
    svg("text", { x: x + 38, y: 14, "text-anchor": "end", class: "explorer-label" }, "probability of zero"));

  // Squared bias, variance and their sum: over N on plain axes, or over ε on logarithmic ones, where powers are straight lines.
  function errors(n, eps, width) {
    const height = 220, left = 52, right = width - 12, top = 26, bottom = height - 42;
    const byCount = over.value === "N", samples = 240;
    const end = byCount ? Math.min(60, roundUp(Math.max(n, 6 / eps, 5))) : 5;
    const x = byCount ? linear(0, end, left, right) : log(0.02, 5, left, right);
    const most = byCount ? 2 / eps ** 2 : 1e4, floor = 1e-3;
    const y = byCount ? linear(0, most, bottom, top) : log(floor, most, bottom, top);
    const at = (f) => (v) => (byCount ? f(v, eps) : f(n, v));
    const along = Array.from({ length: samples + 1 }, (_, i) => (byCount ? (end * i) / samples : 0.02 * 250 ** (i / samples)));
    const marker = x(byCount ? n : eps);
    const curve = ([colour, dash, f]) => {
      const seen = along.filter((v) => byCount || at(f)(v) >= floor); // what is below the logarithmic axis is not drawn
      return [
        seen.length > 1 ? svg("path", { d: line(seen.map(x), seen.map((v) => y(at(f)(v)))), style: stroke(colour, 2, dash) }) : null,
        svg("circle", { cx: marker, cy: y(Math.max(f(n, eps), byCount ? 0 : floor)), r: 5, style: `fill: var(--${colour}); stroke: var(--card)` }),
      ];
    };
    const title = `${byCount ? `Over counts up to ${end} at ε = ${eps}` : `Over budgets from 0.02 to 5 for a count of ${n}`}: squared bias ` +
      `${number(bias(n, eps) ** 2)}, variance ${number(variance(n, eps))} and MSE ${number(mse(n, eps))} people² at the marker.`;
    return Explorer.picture(width, height, title,
      yAxis(y, byCount ? ticks(0, most, 4) : [1e-3, 1e-1, 10, 1e3], left, right, byCount ? "people²" : "people², logarithmic", short),
      xAxis(x, byCount ? ticks(0, end, 6) : [0.02, 0.1, 0.5, 1, 5], bottom, byCount ? "true count N (people)" : "budget ε, logarithmic", (left + right) / 2, String),
      svg("line", { x1: marker, x2: marker, y1: top, y2: bottom, style: stroke("soft", 1, "2 3") }),
      CURVES.map(curve).flat(),
    );
  }
});
