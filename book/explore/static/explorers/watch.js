// Watch a release: the tree of chapter 1, noise drawn node by node, clipped at zero, and projected from the top down.
"use strict";

const Release = (() => {
  // Nearest v ≥ 0 (least squares) to the values with the given sum: v = max(0, values − θ), and sorting finds θ.
  function projectSimplex(values, total) {
    const most = values.reduce((a, b) => Math.max(a, b));
    const x = values.map((v) => v - most + total); // changes nothing, and no large number drowns a small one
    let sum = 0, theta = 0;
    [...x].sort((a, b) => b - a).forEach((v, i) => {
      sum += v;
      if (v * (i + 1) > sum - total) theta = (sum - total) / (i + 1); // it and all larger ones stay above zero
    });
    return x.map((v) => Math.max(0, v - theta));
  }

  // parents[l][j] is the place at level l − 1 of the parent of node j.
  function topDown(parents, noisy) {
    const out = [noisy[0].map((v) => Math.max(0, v))];
    for (let l = 1; l < noisy.length; l++) {
      out[l] = [];
      out[l - 1].forEach((total, parent) => {
        const family = [...noisy[l].keys()].filter((j) => parents[l][j] === parent);
        if (family.length) projectSimplex(family.map((j) => noisy[l][j]), total).forEach((v, i) => (out[l][family[i]] = v));
      });
    }
    return out;
  }

  // A small random generator with a seed (mulberry32): for pictures only.
  function random(seed) {
    return () => {
      seed = (seed + 0x6d2b79f5) | 0;
      let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
      t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
      return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
    };
  }

  // Floating-point noise from such a generator protects nobody.
  const laplace = (random, scale) => (random() < 0.5 ? scale : -scale) * Math.log(1 - random());

  function draw(counts, parents, eps, random) {
    const noisy = counts.map((level, l) => level.map((n) => n + laplace(random, 1 / eps[l])));
    const clipped = noisy.map((level) => level.map((v) => Math.max(0, v)));
    return { noisy, clipped, final: topDown(parents, clipped) };
  }

  return { projectSimplex, topDown, random, draw };
})();

Explorer.register("watch", (root) => {
  const { h, svg, slider, choice, button, frame, legend, tabulate, picture, number } = Explorer, { random } = Release, { sum } = Solver;
  const VIRGINIA = [[450], [300, 150], [120, 80, 100, 90, 60]], PARENTS = [null, [0, 0], [0, 0, 0, 1, 1]];
  const STAGES = ["true", "noisy", "clipped", "final"], COLOURS = ["truth", "level-2", "level-1", "optimal"];
  // All nodes in one row, in the order in which they draw their noise; `rank` is where a node stands among its level.
  const NODES = [
    ["State VA", null, 2.25], ["Tract 100", 0, 1], ["Tract 200", 0, 3.5],
    ["Block 100/1", 1, 0], ["Block 100/2", 1, 1], ["Block 100/3", 1, 2], ["Block 200/1", 2, 3], ["Block 200/2", 2, 4],
  ].map(([name, parent, rank]) => ({ name, parent, rank, level: parent === null ? 0 : parent === 0 ? 1 : 2 }));
  const children = (i) => [...NODES.keys()].filter((j) => NODES[j].parent === i);
  const CLIP = NODES.length + 1, END = CLIP + 3; // steps: noise for each node, clipping, and one for each of three families
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches; // who asked for less motion gets steps only

  let seed = 9, step = 0, clock = null, counts, eps, exact, now, record;
  const stream = random(2020); // of the noise for "Run 200"

  const tenth = choice({ label: "People", value: "1", options: { 1: "Virginia: 450", 10: "a hamlet: 45" }, onchange: renew });
  const split = choice({ label: "Split of ε", value: "uniform", options: { uniform: "uniform", minimizeError: "optimal" }, onchange: renew });
  const total = slider({ label: "Total ε", min: -34, max: 6, step: 1, value: -6, at: Explorer.budget, onchange: renew }); // 0.02 to 2
  const pace = choice({ label: "Speed", value: "1200", options: { 450: "fast", 1200: "normal", 2600: "slow" }, onchange: () => clock && play() });
  const player = button("Play", () => (clock ? pause() : play()));
  const buttons = [button("Step", () => (pause(), forward())), player, button("Start again", () => begin(seed)),
    button("New seed", () => begin(seed + 1)), button("Run 200", runMany)];
  player.hidden = pace.box.hidden = still;
  const view = frame(root, [tenth, split, total, pace, h("div", { class: "explorer-buttons" }, buttons)]);
  // The sentence stands by the buttons: on a phone, the tree is taller than the screen.
  root.querySelector(".explorer-controls").after(root.querySelector(".explorer-summary"));
  const strip = h("div", {}), compared = h("table", { class: "explorer-table" });
  root.append(h("p", { style: "margin: 1.5rem 0 0" }, h("strong", {}, "Release after release. "), "Each release that comes to its end adds a dot to every row."), strip,
    h("div", { class: "explorer-scroll", tabindex: 0, role: "region", "aria-label": "Error by level" }, compared));

  const minus = (text) => text.replace("-", "−"), one = (x) => minus(x.toFixed(1)).replace("−0.0", "0.0");
  const signed = (x) => (x >= 0.05 ? "+" : "") + one(x);

  // How far a node is after k steps. It has its final count once its family had its turn, the state along with the tracts.
  const stage = (i, k = step) => (k >= CLIP ? (k > CLIP + (NODES[i].parent ?? 0) ? 3 : 2) : k > i ? 1 : 0);
  const at = (i, k = step) => now[STAGES[stage(i, k)]][i];
  const childSum = (i) => sum(children(i).map((j) => at(j)));
  const fits = (i) => Math.abs(childSum(i) - at(i)) < 1e-6;

  function sentence() {
    if (step === 0) return `Seed ${seed}: all counts are true, and each parent is the sum of its children. The state draws its noise first.`;
    if (step < CLIP) {
      const i = step - 1, x = now.noisy[i];
      return `${NODES[i].name} drew ${signed(x - now.true[i])} and is now ${one(x)}${x < 0 ? ", below zero" : ""}.`;
    }
    if (step === CLIP) {
      const lifted = NODES.filter((_, i) => now.noisy[i] < 0).map((n) => n.name).join(" and ");
      return lifted ? `Clipping lifts ${lifted} to zero.` : "No count is below zero: clipping changes nothing. But the sums do not fit.";
    }
    const parent = step - CLIP - 1, family = children(parent), total = sum(family.map((i) => now.clipped[i]));
    const moves = family.map((i) => now.final[i] - now.clipped[i]);
    const least = Math.min(...moves), most = Math.max(...moves), each = one(Math.max(-least, most));
    const how = least >= 0 ? `receives ${each}` : `gives up ${each}${most - least < 1e-9 ? "" : ", or all it has"}`;
    return `The children of ${NODES[parent].name} add up to ${one(total)}, and it has ${one(now.final[parent])}: each ${how}.` +
      (step === END ? " Now every sum fits, and the release is done. Step on for another." : "");
  }

  const stroke = (colour, width = 2) => `stroke: var(--${colour}); stroke-width: ${width}`;
  // One scale for all errors; what is farther out stands at the edge.
  function scale(left, right) {
    const reach = 4 / Math.min(...eps), x = (error) => (left + right + (error / reach) * (right - left)) / 2;
    return { reach, x, inside: (error) => x(Math.max(-reach, Math.min(reach, error))) };
  }

  function draw() {
    const width = root.clientWidth;
    if (!width) return;
    // The tree stands on a wide screen and lies on its side on a phone, where words still fit into its boxes.
    const lies = width < 560, high = 104, wide = lies ? (width - 36) / 3 : Math.min(136, (width - 40) / 5);
    const down = lies ? high + 16 : high + 46, over = (width - wide) / (lies ? 2 : 4);
    const corner = ({ level, rank }) => (lies ? [level * over, rank * down] : [rank * over, level * down]);
    const edges = NODES.slice(1).map((n) => {
      const [x, y] = corner(n), [px, py] = corner(NODES[n.parent]);
      const d = lies ? `M${px + wide},${py + high / 2}L${x},${y + high / 2}` : `M${px + wide / 2},${py + high}L${x + wide / 2},${y}`;
      return svg("path", { d, style: fits(n.parent) ? stroke("truth") : stroke("uniform") + "; stroke-dasharray: 4 4" });
    });
    const boxes = NODES.map((n, i) => svg("g", { transform: `translate(${corner(n)})` }, box(n, i, wide, high),
      children(i).length ? svg("text", { x: wide / 2, y: high + (lies ? 17 : 20), "text-anchor": "middle", class: "explorer-halo", style: `fill: var(--${fits(i) ? "truth" : "uniform"})` },
        `Σ ${one(childSum(i))} ${fits(i) ? "✓" : "✗"}`) : null));
    view.draw(
      legend([["truth", "true", "dot"], ["level-2", "noisy", "dot"], ["level-1", "clipped", "dot"], ["optimal", "final", "dot"], ["rule", "below zero"],
        ["truth", "sums fit", "line"], ["uniform", "they do not", "dashed"]]),
      picture(width, (lies ? 4 : 2) * down + high + 4, "A tree of eight counts: the sentence above says what happens, the table below has the numbers.", edges, boxes),
    );
    view.tabulate(`Seed ${seed}, in people`, ["Node", "ε", ...STAGES, "error"], NODES.map((n, i) => [
      n.name, number(eps[n.level]), ...STAGES.map((name, s) => (s > stage(i) ? "–" : s ? one(now[name][i]) : now.true[i])), signed(at(i) - now.true[i]),
    ]));
    review(width);
  }

  // A node's counts, and its error as a dot: in the middle where the count is true, against the wall where it is zero.
  function box(n, i, wide, high) {
    const s = stage(i), before = Math.max(0, step - 1), moved = s !== stage(i, before) && (step !== CLIP || now.noisy[i] < 0);
    const { x, inside } = scale(6, wide - 6), place = (k) => inside(at(i, k) - now.true[i]);
    const dot = svg("circle", { cx: place(step), cy: high - 9.5, r: 5, style: `fill: var(--${COLOURS[s]})` });
    if (moved && !still) dot.animate([{ transform: `translate(${place(before) - place(step)}px)` }, {}], { duration: 400, easing: "ease-out" });
    const letters = wide < 110 ? "font-size: 12px; " : "";
    return [
      svg("rect", { width: wide, height: high, rx: 6, style: `fill: var(--card); ${moved ? stroke(COLOURS[s], 3) : stroke("edge", 1)}` }),
      svg("rect", { x: 1, y: high - 18, width: Math.max(0, x(-now.true[i]) - 1), height: 17, style: "fill: var(--rule)" }),
      svg("path", { d: `M${x(0)},${high - 18}v17`, style: stroke("soft", 1) }),
      svg("text", { x: 7, y: 16, style: `${letters}font-weight: 600` }, n.name),
      ...STAGES.slice(0, s + 1).flatMap((name, k) => [
        svg("text", { x: 7, y: 33 + 15 * k, class: "explorer-label", style: letters }, name),
        svg("text", { x: wide - 7, y: 33 + 15 * k, "text-anchor": "end", style: `${letters}font-weight: ${k === s ? 700 : 400}` }, k ? one(now[name][i]) : now.true[i]),
      ]),
      dot,
    ];
  }

  // What a release leaves behind: errors of the blocks for the dots, squared errors by level for the table.
  function keep(release) {
    record.errors.push(release.final[2].map((v, j) => v - counts[2][j]));
    for (const name of ["clipped", "final"]) record[name].push(release[name].map((level, l) => sum(level.map((v, j) => (v - counts[l][j]) ** 2))));
  }
  // Mean squared error of a level, and its standard error.
  function measured(name, l) {
    const numbers = record[name].map((levels) => levels[l]), k = numbers.length, m = sum(numbers) / k;
    return [m, Math.sqrt(sum(numbers.map((x) => (x - m) ** 2)) / (k - 1) / k)];
  }

  function review(width) {
    const k = record.errors.length, bottom = 136, { reach, x, inside } = scale(50, width - 8);
    const rows = NODES.slice(3).flatMap(({ name }, j) => {
      const y = 26 * j + 15, errors = record.errors.map((e) => e[j]), middle = inside(sum(errors) / k);
      // A dot is a line of no length with round ends; the golden section spreads them over the height of the row.
      const dots = errors.map((e, i) => `M${inside(e).toFixed(1)},${(y - 8 + 16 * ((i * 0.618034) % 1)).toFixed(1)}h0`).join("");
      return [
        svg("text", { x: 2, y: y + 4 }, name.slice(6)),
        svg("path", { d: dots, style: `${stroke("optimal", 5)}; stroke-linecap: round; opacity: ${k > 50 ? 0.6 : 1}` }),
        k > 1 ? svg("path", { d: `M${middle},${y - 11}v22`, style: stroke("yours", 3) }) : null,
      ];
    });
    strip.replaceChildren(
      legend([["optimal", "one release", "dot"], ["yours", "mean of all"]]),
      picture(width, bottom + 40, `Errors of the five blocks in ${k} releases, a dot each, up to ${number(reach, 2)} people on either side of zero.`,
        svg("path", { d: `M${x(0)},0V${bottom}`, style: stroke("soft", 1) }), rows,
        [-3, -2, -1, 0, 1, 2, 3].map((v) => (v * reach) / 4).map((v) => svg("text", { x: x(v), y: bottom + 16, "text-anchor": "middle" }, minus(String(+v.toPrecision(2))))),
        svg("text", { x: x(0), y: bottom + 34, "text-anchor": "middle", class: "explorer-label" }, "error of a block: final minus true (people)")),
    );
    const show = ([m, se]) => (k > 1 ? `${number(m)} ± ${number(se, 2)}` : "–");
    tabulate(compared, `Squared error by level in people², releases so far: ${k}`, ["Level", "ε", "closed form", "clipped", "final"],
      ["state", "tract", "block"].map((level, l) => [level, number(eps[l]), number(exact[l]), show(measured("clipped", l)), show(measured("final", l))]));
  }

  const release = (random) => Release.draw(counts, PARENTS, eps, random);
  function runMany() {
    pause();
    for (let i = 0; i < 200; i++) keep(release(stream));
    draw();
    view.say(`${record.errors.length} releases so far. Squared error of the blocks: ${number(measured("clipped", 2)[0])} people² after clipping, ` +
      `where the closed form says ${number(exact[2])}, and ${number(measured("final", 2)[0])} once the sums fit.`);
  }
  function begin(next) {
    pause();
    seed = next;
    step = 0;
    now = { true: counts, ...release(random(seed)) };
    for (const name of STAGES) now[name] = now[name].flat();
    draw();
    view.say(sentence());
  }
  function renew() {
    counts = VIRGINIA.map((level) => level.map((n) => n / tenth.value));
    const tree = counts.map((values) => ({ values, times: values.map(() => 1) }));
    eps = Solver[split.value](tree, total.value);
    exact = Solver.mseByLevel(tree, eps);
    record = { seed: 0, errors: [], clipped: [], final: [] };
    begin(seed);
  }
  function forward() {
    if (step === END) return begin(seed + 1);
    step++;
    if (step === END) pause();
    if (step === END && seed > record.seed) { // the same noise again is not another release
      keep(release(random(seed)));
      record.seed = seed;
    }
    draw();
    view.say(sentence());
  }
  function play() {
    pause();
    forward();
    clock = setInterval(forward, +pace.value);
    player.textContent = "Pause";
  }
  function pause() {
    clearInterval(clock);
    clock = null;
    player.textContent = "Play";
  }

  renew();
  Explorer.fit(root, draw);
});
