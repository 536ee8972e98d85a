// Scales and axes: what pictures with curves need beyond core.js. All of it is found in Explorer.
"use strict";

(() => {
  const { svg } = Explorer;

  // Scales from data to picture: linear(0, 10, 40, 400)(5) is 220; log the same on a logarithmic axis.
  const linear = (d0, d1, r0, r1) => (x) => r0 + ((x - d0) / (d1 - d0)) * (r1 - r0);
  const log = (d0, d1, r0, r1) => (x) => linear(Math.log(d0), Math.log(d1), r0, r1)(Math.log(x));
  const line = (xs, ys) => "M" + xs.map((x, i) => `${x.toFixed(2)},${ys[i].toFixed(2)}`).join("L");

  // Round numbers between two values, at most about `most` of them.
  function ticks(low, high, most = 6) {
    const rough = (high - low) / most, power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((k) => k * power).find((s) => s >= rough);
    const out = [];
    for (let k = Math.ceil(low / step); k * step <= high * (1 + 1e-12); k++) out.push(+(k * step).toPrecision(12));
    return out;
  }

  const xAxis = (scale, values, y, label, middle, show = String) => svg("g", { class: "explorer-axis" },
    values.map((v) => svg("text", { x: scale(v), y: y + 16, "text-anchor": "middle" }, show(v))),
    values.map((v) => svg("line", { x1: scale(v), x2: scale(v), y1: y, y2: y + 4 })),
    svg("text", { x: middle, y: y + 34, "text-anchor": "middle", class: "explorer-label" }, label));

  const yAxis = (scale, values, x, right, label, show = String) => svg("g", { class: "explorer-axis" },
    values.map((v) => svg("line", { x1: x, x2: right, y1: scale(v), y2: scale(v), class: "explorer-grid" })),
    values.map((v) => svg("text", { x: x - 6, y: scale(v) + 4, "text-anchor": "end" }, show(v))),
    svg("text", { x, y: Math.min(...values.map(scale)) - 12, "text-anchor": "start", class: "explorer-label" }, label));

  Object.assign(Explorer, { linear, log, line, ticks, xAxis, yAxis });
})();
