// Split the budget: the best split of a census tree, two rules, and one that the reader drags.
"use strict";

Explorer.register("split", (root) => {
  const { h, slider, choice, frame, fit, legend, budget, number, percent, readLink, writeLink } = Explorer, { sum } = Solver;
  const STATES = { WY: "Wyoming", NM: "New Mexico", DE: "Delaware" };
  const TREES = { published: "published, as in the paper", populated: "populated blocks", geography: "every block" };
  const NAMES = ["state", "tracts", "blocks"], ROW = 3, LEAST = 0.5; // your row, and the least share, in percent

  // What the link says, where it says something possible.
  const link = readLink(), list = (text) => (text ?? "").split("-").map(Number);
  const position = (value, reach) => (value > 0 ? Math.max(-reach, Math.min(reach, 20 * Math.log10(value))) : 0);
  const own = list(link.own), possible = own.length === 3 && own.every((x) => x >= LEAST) && Math.abs(sum(own) - 100) < 0.01;
  const edges = possible ? [own[0], 100 - own[2]] : [20, 50]; // where your bar is cut, in percent

  const state = choice({ label: "State", options: STATES, value: link.state, onchange: () => (load(), changed()) });
  const tree = choice({ label: "Tree", options: TREES, value: link.tree, onchange: () => (load(), changed()) });
  const power = (label, reach, value) => slider({ label, min: -reach, max: reach, step: 1, value: position(value, reach), at: budget, onchange: changed });
  const total = power("Total budget ε", 20, +link.eps);
  const weights = NAMES.map((name, i) => power(`Weight of the ${name}`, 40, list(link.w)[i]));

  // The handles lie over the picture: they stay, and keep the focus, while it is drawn again.
  const canvas = h("div"), key = h("div"), place = () => Bars.place(canvas.clientWidth, ROW);
  const STEPS = { ArrowLeft: -0.5, ArrowDown: -0.5, ArrowRight: 0.5, ArrowUp: 0.5, PageDown: -5, PageUp: 5, Home: -100, End: 100 };
  const handles = edges.map((_, i) => h("div", {
    class: "explorer-handle", role: "slider", tabindex: 0, "aria-label": `Your split between ${NAMES[i]} and ${NAMES[i + 1]}`,
    onkeydown(event) {
      if (!(event.key in STEPS)) return;
      event.preventDefault(); // the page would scroll
      move(i, edges[i] + STEPS[event.key]);
    },
    onpointerdown(event) { this.setPointerCapture(event.pointerId); },
    onpointermove(event) {
      const x = event.clientX - canvas.getBoundingClientRect().left;
      if (this.hasPointerCapture(event.pointerId)) move(i, (100 * x) / place().width);
    },
  }));
  function move(i, to) {
    const low = (edges[i - 1] ?? 0) + LEAST, high = (edges[i + 1] ?? 100) - LEAST;
    edges[i] = +Math.min(high, Math.max(low, to)).toFixed(1);
    changed();
  }

  const view = frame(root, [state, tree, total, ...weights]);
  view.draw(key, h("div", { class: "explorer-stage" }, canvas, handles));
  let counts;
  load();
  fit(canvas, draw);

  // The link changes only with the reader's choices: until then it may name a place in the page.
  function changed() {
    const { eps, w, shares } = draw();
    writeLink({ state: state.value, tree: tree.value, eps, w: w.join("-"), own: shares.join("-") });
  }
  function load() {
    counts = Trees.load(state.value, tree.value);
    key.replaceChildren(legend(Solver.sizes(counts).map((n, i) => [Bars.colour(i), `${n.toLocaleString("en")} ${NAMES[i]}`])));
    draw();
  }

  function draw() {
    const eps = total.value, w = weights.map((weight) => weight.value), plain = w.every((x) => x === 1);
    const shares = [edges[0], edges[1] - edges[0], 100 - edges[1]].map((x) => +x.toFixed(1));
    const splits = Object.entries({
      optimal: Solver.minimizeError(counts, eps, w),
      "cube root": Solver.cubeRoot(counts, eps, w),
      uniform: Solver.uniform(counts, eps),
      yours: shares.map((x) => (eps * x) / 100),
    }).map(([name, budgets]) => {
      const errors = Solver.mseByLevel(counts, budgets);
      return { name, note: number(sum(errors)), eps: budgets, errors, weighted: sum(errors.map((e, i) => w[i] * e)) };
    });
    picture(splits, shares, `expected squared error (people²${plain ? "" : ", unweighted"})`);

    const [best, ...others] = splits, [cube, even, yours] = others.map((s) => Bars.compare(s.weighted / best.weighted));
    const [top, middle, bottom] = best.eps.map((e) => percent(e / eps, e < 0.1 * eps ? 1 : 0));
    view.say(`The optimal split gives the blocks ${bottom} of the budget, the tracts ${middle} and the state ${top}. Next to its error`
      + `${plain ? "" : ", counted with your weights"}, the cube-root rule has ${cube}, uniform ${even}, and yours ${yours}.`);
    view.tabulate(`${STATES[state.value]}, ${TREES[tree.value]}, ε = ${eps}: budgets, and errors in people²`,
      ["split", ...splits.map((s) => s.name)],
      [...NAMES.map((n) => `ε ${n}`), ...NAMES.map((n) => `error ${n}`), "error", "weighted error"].map((name, i) =>
        [name, ...splits.map((s) => (i < 3 ? number(s.eps[i]) : number([...s.errors, sum(s.errors), s.weighted][i - 3], 4)))]));
    return { eps, w, shares };
  }

  function picture(splits, shares, unit) {
    const { width, middle } = place();
    if (width) canvas.replaceChildren(Bars.draw(canvas.clientWidth, unit, splits));
    handles.forEach((handle, i) => {
      handle.style.cssText = `left: ${(width * edges[i]) / 100}px; top: ${middle}px`;
      handle.setAttribute("aria-valuenow", edges[i]);
      handle.setAttribute("aria-valuetext", `${NAMES[i]} ${shares[i]}%, ${NAMES[i + 1]} ${shares[i + 1]}%`);
    });
  }
});
