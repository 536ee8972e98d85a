// The closed forms of helpers/mechanisms/laplace.py and the solver of helpers/allocation.py. The tests hold them to Python, to 1e-9.
//
//   tree: its levels, top first, each as {values, times}: the distinct counts and how many nodes have each
//   eps, w: the budget and the weight of each level · x = εN
"use strict";

const Solver = (() => {
  const SOLVED = 1e-14, ROUNDING = 1e-10, MOST_STEPS = 60;
  const sum = (numbers) => numbers.reduce((total, x) => total + x, 0);
  const ones = (tree) => tree.map(() => 1);

  // The MSE of one count. Nothing here cancels.
  // exp(-746) is 0, so capping x changes nothing, and keeps x³·exp(-x) from being Infinity·0.
  const scaled = (n, eps) => Math.min(n * eps, 4000);
  const h = (x) => 2 - (1 + x) * Math.exp(-x);
  const mse = (n, eps) => h(scaled(n, eps)) / eps / eps;

  // ∂MSE/∂ε = −a(x)/ε³ and ∂²MSE/∂ε² = b(x)/ε⁴, as the pair [a, b].
  function slopeAndCurvature(x) {
    const decay = Math.exp(-x), a = 4 - ((x + 2) * x + 2) * decay;
    return [a, 3 * a - x * x * x * decay];
  }

  // A whole tree.
  const sizes = (tree) => tree.map(({ times }) => sum(times));
  const mseByLevel = (tree, eps) => tree.map(({ values, times }, l) => sum(values.map((n, i) => times[i] * mse(n, eps[l]))));

  // What the next bit of budget saves at a level, and how fast that falls: −w F′ and w F″.
  function derivatives({ values, times }, eps, w) {
    let a = 0, b = 0;
    values.forEach((n, i) => {
      const [slope, curvature] = slopeAndCurvature(scaled(n, eps));
      a += times[i] * slope;
      b += times[i] * curvature;
    });
    return [(w * a) / eps ** 3, (w * b) / eps ** 4];
  }

  const uniform = (tree, total) => tree.map(() => total / tree.length);
  // The cube-root rule looks at node counts only.
  function byNodes(nodes, total, w = ones(nodes)) {
    const roots = nodes.map((n, l) => Math.cbrt(w[l] * n)), all = sum(roots);
    return roots.map((root) => (total * root) / all);
  }
  const cubeRoot = (tree, total, w) => byNodes(sizes(tree), total, w);

  // Program (1): Newton's method on G = (−w F′)^(−1/3), almost a straight line in ε, from the cube-root rule.
  function minimizeError(tree, total, w = ones(tree)) {
    let eps = cubeRoot(tree, total, w), least = Infinity, best = eps;
    for (let k = 0; k < MOST_STEPS; k++) {
      const found = tree.map((level, l) => derivatives(level, eps[l], w[l])), marginal = found.map(([m]) => m);
      const spread = ((Math.max(...marginal) - Math.min(...marginal)) * tree.length) / sum(marginal);
      if (spread < least) [least, best] = [spread, eps];
      else if (least < ROUNDING) break; // rounding, not the method, now moves the spread
      if (spread < SOLVED) break;
      const g = marginal.map((m) => 1 / Math.cbrt(m)), slope = found.map(([m, curvature], l) => (g[l] * curvature) / (3 * m));
      const common = sum(g.map((v, l) => v / slope[l])) / sum(slope.map((s) => 1 / s));
      const step = g.map((v, l) => (common - v) / slope[l]);
      // Stay inside ε > 0: go at most nine tenths of the way to the boundary.
      const damp = 0.9 / Math.max(0.9, ...step.map((s, l) => -s / eps[l]));
      const next = eps.map((e, l) => e + damp * step[l]), spent = sum(next);
      eps = next.map((e) => (e * total) / spent);
    }
    return best;
  }

  return { scaled, mse, h, sum, sizes, mseByLevel, uniform, byNodes, cubeRoot, minimizeError };
})();
