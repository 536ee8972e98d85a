// Your own tree: the recommended split for a table of leaves, or for node counts. Nothing leaves the page.
"use strict";

// From text to tree. What cannot be read is refused: the sentence names the line and says what would be right.
const OwnTree = (() => {
  const refuse = (sentence) => { throw new RangeError(sentence); };
  const quote = (text) => `“${text.length > 30 ? text.slice(0, 30) + "…" : text}”`;

  // The cells of a line. A cell in double quotes may hold the separator.
  function cells(line, separator) {
    const found = [""];
    let inside = false;
    for (const letter of line) {
      if (letter === '"') inside = !inside;
      else if (letter === separator && !inside) found.push("");
      else found[found.length - 1] += letter;
    }
    return found.map((cell) => cell.trim());
  }

  function count(text, where) {
    if (text === "") refuse(`${where} empty. Write a number of zero or more.`);
    if (/^[-−]\s*\d/.test(text)) refuse(`${where} ${text}. A count is zero or more.`);
    if (/^\d{1,3}(,\d{3})+$/.test(text)) refuse(`${where} ${quote(text)}. Write it without commas: ${text.replaceAll(",", "")}.`);
    const value = /^(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text) ? Number(text) : NaN;
    return Number.isFinite(value) ? value : refuse(`${where} ${quote(text)}. Write a number of zero or more, such as 42.`);
  }

  function header(names, line) {
    const last = names.at(-1), right = "such as: hospital, ward, patients";
    if (names.length < 2) refuse(`Line ${line} has one column. Name a column for each level and, last, one for the counts, ${right}.`);
    if (names.length > 51) refuse(`Line ${line} has ${names.length} columns. The most is 51.`);
    if (last !== "" && !Number.isNaN(+last)) refuse(`Line ${line} ends in the number ${last}. The first line must name the columns, ${right}.`);
    names.forEach((name, i) => {
      if (name === "") refuse(`Line ${line}: column ${i + 1} has no name. Give each column one.`);
      if (names.indexOf(name) < i) refuse(`Line ${line} names two columns ${quote(name)}. Give each a name of its own.`);
    });
    return names;
  }

  // A table of leaves, as Hierarchy.from_frame reads it: a node is known by its whole path, and equal paths are added up.
  function table(text) {
    const [first, ...rows] = text.replace(/^\ufeff/, "").split(/\r\n|\r|\n/).map((line, i) => [line, i + 1]).filter(([line]) => line.trim());
    if (!first) refuse("The table is empty. Paste a line that names the columns, and below it a line for each leaf.");
    const separator = ["\t", ";", ","].find((mark) => first[0].includes(mark));
    const names = header(cells(first[0], separator), first[1]), depth = names.length - 1;
    if (!rows.length) refuse(`The table has no rows. Below line ${first[1]}, write a line for each leaf.`);
    const sums = names.slice(1).map(() => new Map());
    for (const [line, n] of rows) {
      const row = cells(line, separator);
      if (row.length !== names.length) refuse(`Line ${n}: the number of columns is ${row.length}. It must be ${names.length}, as in the first line: ${names.join(", ")}.`);
      const people = count(row[depth], `Line ${n}: the ${names[depth]} is`);
      let path = "";
      sums.forEach((nodes, level) => {
        if (row[level] === "") refuse(`Line ${n}: the ${names[level]} is empty. Every leaf needs a name at each level.`);
        path += "\n" + row[level]; // no cell holds a line break, so different paths stay different
        nodes.set(path, (nodes.get(path) ?? 0) + people);
      });
    }
    return { levels: names.slice(0, -1), tree: sums.map(compress) };
  }
  function compress(nodes) {
    const times = new Map();
    for (const n of nodes.values()) times.set(n, (times.get(n) ?? 0) + 1);
    return { values: [...times.keys()], times: [...times.values()] };
  }

  // Node counts by level, top first, with or without names: "1 state, 128 tracts, 20975 blocks".
  function nodes(text) {
    if (!text.trim()) refuse("There are no node counts. Write those of each level, top first, such as: 1, 128, 20975.");
    const items = text.trim().split(/\s*[,;\n]\s*/).map((item, i) => {
      const [, size, name] = /^(\d{1,15})(?![.\d])\s*(.*)$/.exec(item) ?? [];
      return +size ? { size: +size, name: name || `level ${i + 1}` } : refuse(`Item ${i + 1} is ${quote(item)}. Write a whole number of nodes, such as 128.`);
    });
    if (items.length > 50) refuse(`There are ${items.length} levels. The most is 50.`);
    const levels = items.map(({ name }) => name), sizes = items.map(({ size }) => size);
    sizes.forEach((size, i) => {
      if (size < sizes[i - 1]) refuse(`Item ${i + 1} (${size}) is smaller than item ${i} (${sizes[i - 1]}). Begin with the top, and write 20975 without a comma.`);
    });
    return { levels, sizes };
  }

  // Text for a link: deflated, in letters that an address may hold.
  async function through(bytes, stream, most) {
    const found = [], reader = new Blob([bytes]).stream().pipeThrough(stream).getReader();
    for (let piece; !(piece = await reader.read()).done;)
      if (found.push(...piece.value) > most) refuse(); // few letters may unpack to millions
    return found;
  }
  async function pack(text) {
    const bytes = await through(text, new CompressionStream("deflate-raw"));
    return btoa(bytes.map((b) => String.fromCharCode(b)).join("")).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
  }
  async function unpack(text) {
    const bytes = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));
    return new TextDecoder().decode(new Uint8Array(await through(bytes, new DecompressionStream("deflate-raw"), 5e5)));
  }

  return { table, nodes, pack, unpack };
})();

Explorer.register("own-tree", (root) => {
  const { h, slider, choice, button, frame, fit, legend, budget, number, LONGEST, readLink, writeLink } = Explorer, { sum } = Solver;
  const MOST = 4096; // letters of a link: mail and chat programs cut longer ones
  const EXAMPLE = `network,hospital,ward,patients
Lakeside,General,Cardiology,212
Lakeside,General,Maternity,148
Lakeside,General,Oncology,95
Lakeside,General,Paediatrics,64
Lakeside,General,Psychiatry,17
Lakeside,General,Sleep clinic,3
Lakeside,Harbour,Cardiology,71
Lakeside,Harbour,Maternity,38
Lakeside,Harbour,Psychiatry,9
Lakeside,Harbour,Burns,2
Lakeside,St Anne,Maternity,26
Lakeside,St Anne,Paediatrics,12
Lakeside,St Anne,Oncology,6
Lakeside,Hill House,Psychiatry,31
Lakeside,Hill House,Addiction,14
Lakeside,Hill House,Sleep clinic,1
`;
  const link = readLink(), position = Math.round(20 * Math.log10(+link.eps)), whole = (n) => n.toLocaleString("en"), letters = location.hash.length;
  let wrong = letters > LONGEST && `The link has ${letters} letters. The most is ${LONGEST}.`; // until one types
  root.addEventListener("input", () => { wrong = ""; }, true);
  const kind = choice({ label: "You have", options: { table: "a table of leaves", nodes: "node counts only" }, value: link.nodes && "nodes", onchange: draw });
  const eps = slider({ label: "Total budget ε", min: -20, max: 20, step: 1, value: Math.abs(position) <= 20 ? position : 0, at: budget, onchange: draw });
  const field = (label, area) => h("div", { class: "explorer-control explorer-wide" }, h("label", { for: area.id }, label), area);
  const pasted = h("textarea", { id: "own-tree-table", rows: 8, spellcheck: "false", oninput: draw }, EXAMPLE);
  const typed = h("input", { id: "own-tree-nodes", oninput: draw, value: link.nodes ?? "1, 128, 20975" });
  const fields = { table: field("Table: a line for each leaf, with its levels, top first, and its count", pasted), nodes: field("Nodes of each level, top first", typed) };
  const made = h("p", { role: "status" }), key = h("div"), canvas = h("div");
  const example = button("Example: a hospital network", () => { kind.value = "table"; pasted.value = EXAMPLE; wrong = ""; draw(); });
  const buttons = h("div", { class: "explorer-buttons" }, example, button("Make a link", makeLink), made);

  const view = frame(root, [kind, eps, fields.table, fields.nodes, buttons]);
  view.draw(key, canvas);
  const summary = root.querySelector(".explorer-summary");
  if (link.table) OwnTree.unpack(link.table).then((text) => { pasted.value = text; }, () => {
    wrong = "The link is damaged, or its table too large. Paste the table instead.";
  }).then(draw);
  fit(canvas, draw);

  const read = () => (kind.value === "table" ? OwnTree.table(pasted.value) : OwnTree.nodes(typed.value));

  function draw() {
    for (const name in fields) fields[name].hidden = name !== kind.value;
    made.replaceChildren();
    try {
      if (wrong) throw new RangeError(wrong);
      const found = read();
      fail("");
      (found.tree ? showTable : showNodes)(found, eps.value);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      fail(error.message);
    }
  }
  function fail(sentence) {
    summary.classList.toggle("explorer-error", sentence);
    (kind.value === "table" ? pasted : typed).setAttribute("aria-invalid", sentence !== "");
    if (!sentence) return;
    view.say(sentence);
    view.tabulate("There are no values.", ["level"], []);
    key.replaceChildren();
    canvas.replaceChildren();
  }

  function showTable({ levels, tree }, total) {
    const splits = Object.entries({ optimal: Solver.minimizeError, "cube root": Solver.cubeRoot, uniform: Solver.uniform }).map(([name, rule]) => {
      const eps = rule(tree, total);
      return { name, eps, errors: Solver.mseByLevel(tree, eps) };
    });
    const [best, cube, even] = show(levels, Solver.sizes(tree), splits, (x) => number(x, 4));
    view.say(`Recommended for ε = ${total}: ${best.text}. Its expected squared error is ${number(best.sum)} over all nodes. `
      + `Next to it, the cube-root rule has ${Bars.compare(cube.sum / best.sum)}, and uniform ${Bars.compare(even.sum / best.sum)}.`);
  }

  // Without counts, Proposition 4: the error of n nodes is between n/ε² and twice that.
  function showNodes({ levels, sizes }, total) {
    const range = (low, word = "to") => `${number(low)} ${word} ${number(2 * low)}`;
    const splits = Object.entries({ "cube root": Solver.byNodes(sizes, total), uniform: Solver.uniform(sizes, total) })
      .map(([name, eps]) => ({ name, eps, errors: sizes.map((n, l) => n / eps[l] ** 2) }));
    const [cube, even] = show(levels, sizes, splits, range, 2);
    view.say(`Recommended for ε = ${total}: ${cube.text}, by the cube-root rule. Whatever the counts, its expected squared error is between `
      + `${range(cube.sum, "and")}, and at most twice the least possible. That of the uniform split is between ${range(even.sum, "and")}.`);
  }

  // Picture and table; gives each split with its sum of errors and its text.
  function show(levels, sizes, splits, error, upTo) {
    const all = splits.map((s) => ({ ...s, sum: sum(s.errors), note: error(sum(s.errors)), text: levels.map((name, l) => `${name} ${number(s.eps[l])}`).join(", ") }));
    key.replaceChildren(legend(levels.map((name, l) => [Bars.colour(l), `${name} (${whole(sizes[l])})`])));
    if (canvas.clientWidth) canvas.replaceChildren(Bars.draw(canvas.clientWidth, "expected squared error", all, upTo));
    view.tabulate("Budgets and expected squared errors", ["level (nodes)", ...all.map((s) => s.name)], [...levels, "all"].flatMap((name, l) => {
      const of = (values) => values[l] ?? sum(values), label = `${name} (${whole(of(sizes))})`;
      return [[`${label}: ε`, ...all.map((s) => number(of(s.eps)))], [`${label}: error`, ...all.map((s) => error(of(s.errors)))]];
    }));
    return all;
  }

  // The address changes only when the reader asks: others may see the history.
  async function makeLink() {
    if (summary.classList.contains("explorer-error")) return made.replaceChildren("Mend the input first.");
    const { levels, sizes, tree } = read(), table = tree && (await OwnTree.pack(pasted.value)), fits = table?.length <= MOST;
    const nodes = (sizes ?? Solver.sizes(tree)).map((n, l) => `${n} ${levels[l].replace(/[,;]/g, " ").slice(0, 20)}`).join(", ");
    writeLink({ eps: eps.value, ...(fits ? { table } : { nodes }) });
    const what = fits ? "your table: whoever has it can read the counts."
      : `your node counts${table ? " only: the table is too long for one." : "."}`;
    made.replaceChildren(h("a", { href: location.href }, "This link"), ` carries ${what} The address of the page is now the same.`);
  }
});
