"use strict";
// The page of `indexproof report`.  Everything that is shown comes from the document in #data, and reaches the page as
// text, never as markup.

const DATA = JSON.parse(document.getElementById("data").textContent);
const main = document.getElementById("main");
const search = document.getElementById("search");

// ---------------------------------------------------------------------------------------------------- elements
const NAMESPACES = { svg: "http://www.w3.org/2000/svg", math: "http://www.w3.org/1998/Math/MathML" };

function make(space, tag, attributes, children) {
  const node = space ? document.createElementNS(NAMESPACES[space], tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat(Infinity).filter((c) => c !== null && c !== undefined));
  return node;
}
const h = (tag, attributes, ...children) => make("", tag, attributes, children);
const svg = (tag, attributes, ...children) => make("svg", tag, attributes, children);
const mathml = (tag, ...children) => make("math", tag, {}, children);

const link = (place, ...children) => h("a", { href: place }, ...children);
const code = (text) => h("span", { class: "code" }, text);
const quiet = (...children) => h("span", { class: "quiet small" }, ...children);
const many = (n, word) => `${n.toLocaleString("en")} ${word}${n === 1 ? "" : "s"}`;
const seconds = (s) => (s < 0.0005 ? "" : s < 1 ? `${Math.max(1, Math.round(s * 1000))} ms` : `${s.toFixed(1)} s`);
const route = (...parts) => "#/" + parts.map(encodeURIComponent).join("/");

const TONES = { PROVED: "good", "AS EXPECTED": "good", REFUTED: "bad", VACUOUS: "bad", UNDEFINED: "bad" };
const toneOf = (status) => TONES[status] || "open";

// A verdict, and whether it was expected where that is not plain: a refutation that was, a proof that was not.
function verdict(status, passes) {
  const shown = h("span", { class: `verdict ${toneOf(status)}` }, status || "none");
  const plain = passes === undefined || passes === (status === "PROVED");
  return plain ? shown : [shown, quiet(passes ? " as expected" : " not expected")];
}

function table(heads, rows) {
  const cell = (tag, value, k) => h(tag, { class: heads[k].startsWith("#") ? "number" : k ? null : "name" }, value);
  const head = heads.map((text, k) => cell("th", text.replace("#", ""), k));
  const body = rows.map((row) => h("tr", {}, row.map((value, k) => cell("td", value, k))));
  return h("div", { class: "scroll" }, h("table", {}, h("thead", {}, h("tr", {}, head)), h("tbody", {}, body)));
}

// Adds parts one batch at a time: a page of thousands shows its beginning at once.
function inBatches(parent, parts, size) {
  const more = h("button", { type: "button", onclick: next });
  function next() {
    more.remove();
    parent.append(...parts.splice(0, size).map((part) => part()));
    more.textContent = `Show ${Math.min(size, parts.length)} of ${many(parts.length, "more step")}`.replace("more steps", "more");
    if (parts.length) parent.append(more);
  }
  next();
}

// -------------------------------------------------------------------------------------------------- mathematics
const TOKEN = /\s*(\d+|[\p{L}_][\p{L}\p{N}_'°↺⁻]*…?|\|\||\|[^|]+\||‖[^‖]+‖|\||->|<=|>=|==|!=|&&|\/\/|[-+*·/%()[\],∈∣=≠≤≥<>→⇔⊢])/uy;
const BINDS = {
  "⊢": 1, "→": 2, "->": 2, "⇔": 2, or: 3, "||": 3, and: 4, "&&": 4, "=": 5, "==": 5, "≠": 5, "!=": 5, "≤": 5, "<=": 5,
  "≥": 5, ">=": 5, "<": 5, ">": 5, "∈": 5, in: 5, "∣": 5, "|": 3, "+": 6, "-": 6, "·": 7, "*": 7, "//": 7, "/": 7, mod: 7, "%": 7, floordiv: 7,
};
const SIGN = { "|": "for", in: "∈", "->": "→", "==": "=", "!=": "≠", "<=": "≤", ">=": "≥", "&&": "and", "||": "or", "*": "·", "-": "−", "%": "%" };

// The tree of a formula as [operator, ...arguments], a name or a number; throws where it is none.
function parsed(text) {
  const tokens = [];
  TOKEN.lastIndex = 0;
  const end = text.trimEnd().length;
  while (TOKEN.lastIndex < end) {
    const found = TOKEN.exec(text);
    if (!found) throw new SyntaxError(text);
    tokens.push(found[1]);
  }
  let at = 0;
  const expect = (token) => {
    if (tokens[at++] !== token) throw new SyntaxError(text);
  };
  function list(close) {
    const items = [];
    while (tokens[at] !== close) {
      items.push(formula(0));
      if (tokens[at] !== close) expect(",");
    }
    at++;
    return items;
  }
  function atom() {
    const token = tokens[at++];
    if (token === "(") return ["()", ...list(")")];
    if (token === "[") return ["[]", ...list("]")];
    if (token === "-") return ["neg", formula(7.5)];
    if (token === "not") return ["not", formula(4.5)];
    if (token === undefined || (token in BINDS)) throw new SyntaxError(text);
    if (tokens[at] === "(" && /^\p{L}/u.test(token)) {
      at++;
      return ["call", token, ...list(")")];
    }
    return token;
  }
  function formula(least) {
    let left = atom();
    while (tokens[at] in BINDS && BINDS[tokens[at]] > least) {
      const sign = tokens[at++];
      left = [sign, left, formula(BINDS[sign])];
    }
    return left;
  }
  const tree = list(undefined);
  return tree.length === 1 ? tree[0] : [",", ...tree];
}

function drawn(tree) {
  const sign = (text) => make("math", "mo", { stretchy: "⌊⌋⌈⌉".includes(text) ? null : "false" }, [text]);
  const bare = (t) => (Array.isArray(t) && t[0] === "()" && t.length === 2 ? t[1] : t);
  const joined = (parts, by) => parts.flatMap((p, k) => (k ? [sign(by), drawn(p)] : [drawn(p)]));
  if (!Array.isArray(tree)) {
    if (/^\d/.test(tree)) return mathml("mn", tree);
    const [, stem, index] = /^(\p{L}+?)_?(\d+)$/u.exec(tree) || [];
    return stem ? mathml("msub", mathml("mi", stem), mathml("mn", index)) : mathml("mi", tree);
  }
  const [op, ...args] = tree;
  const fraction = (a, b) => mathml("mfrac", drawn(bare(a)), drawn(bare(b)));
  const between = (open, inner, close) => mathml("mrow", sign(open), ...inner, sign(close));
  switch (op) {
    case "()": return between("(", joined(args, ","), ")");
    case "[]": return between("[", joined(args, ","), "]");
    case ",": return mathml("mrow", ...joined(args, ","));
    case "neg": return mathml("mrow", sign("−"), drawn(args[0]));
    case "not": return mathml("mrow", mathml("mtext", "not\u00a0"), drawn(args[0]));
    case "//": case "floordiv": return between("⌊", [fraction(...args)], "⌋");
    case "call":
      if (args[0] === "ceildiv" && args.length === 3) return between("⌈", [fraction(args[1], args[2])], "⌉");
      return mathml("mrow", mathml("mi", args[0]), between("(", joined(args.slice(1), ","), ")"));
    case "mod": case "and": case "or": case "&&": case "||": case "|":
      return mathml("mrow", drawn(args[0]), mathml("mtext", `\u00a0${SIGN[op] || op}\u00a0`), drawn(args[1]));
  }
  return mathml("mrow", drawn(args[0]), sign(SIGN[op] || op), drawn(args[1]));
}

// A formula; what is none is shown as it is written.
function math(text, large) {
  try {
    return make("math", "math", { "aria-label": text, displaystyle: large ? "true" : null }, [drawn(parsed(text))]);
  } catch (error) {
    return code(text);
  }
}

// -------------------------------------------------------------------------------------------------------- maps
// Maps are evaluated with exact integers.  JSON has those beyond 2^53 as text.
const whole = (n) => BigInt(n);
const floorDiv = (a, b) => (a - floorMod(a, b)) / b;
const floorMod = (a, b) => ((a % b) + b) % b;
const OPERATORS = {
  add: (a, b) => a + b, mul: (a, b) => a * b, fdiv: floorDiv, mod: floorMod,
  cdiv: (a, b) => -floorDiv(-a, b), min: (a, b) => (a < b ? a : b), max: (a, b) => (a > b ? a : b),
};

function evaluator(e) {
  if (Array.isArray(e)) {
    const [apply, a, b] = [OPERATORS[e[0]], evaluator(e[1]), evaluator(e[2])];
    return (env) => apply(a(env), b(env));
  }
  if (typeof e === "number" || /^-?\d/.test(e)) {
    const value = whole(e);
    return () => value;
  }
  return (env) => env[e];
}

// An interval that holds all values of an expression over intervals of its variables.
function bounds(e, env) {
  if (!Array.isArray(e)) {
    if (typeof e === "string" && !/^-?\d/.test(e)) return env[e];
    return [whole(e), whole(e)];
  }
  const [a, b] = [bounds(e[1], env), bounds(e[2], env)];
  if (e[0] === "mod" && b[0] === b[1]) {
    return floorDiv(a[0], b[0]) === floorDiv(a[1], b[0]) ? a.map((x) => floorMod(x, b[0])) : [0n, b[0] - 1n];
  }
  const ends = a.flatMap((x) => b.map((y) => OPERATORS[e[0]](x, y)));
  return [ends.reduce(OPERATORS.min), ends.reduce(OPERATORS.max)];
}

function compiled(form) {
  const m = form.map;
  if (!form.compiled) {
    const free = [...m.ranges, ...m.rts].map(([name, lo, hi]) => [name, whole(lo), whole(hi)]);
    form.compiled = {
      free,
      results: m.results.map(evaluator),
      limits: [...m.constraints.map(([e, lo, hi]) => [evaluator(e), whole(lo), whole(hi)])],
      choices: free.reduce((n, [, lo, hi]) => n * Number(hi - lo + 1n), 1),
    };
  }
  return form.compiled;
}

// A set of elements: single ones (`points` by name), or a box that holds them all.  `loose` says that fewer may be meant.
const keyOf = (index) => index.join(",");
const pointSet = (indices) => ({ points: new Map(indices.map((i) => [keyOf(i), i])), loose: false });
const wholeOf = (dims) => ({ box: dims.map((n) => [0, n - 1]), loose: true });
const isEmpty = (set) => (set.points ? set.points.size === 0 : set.box.some(([lo, hi]) => hi < lo));

function hull(set) {
  if (set.box) return set.box;
  const all = [...set.points.values()];
  return (all[0] || []).map((_, k) => [Math.min(...all.map((i) => i[k])), Math.max(...all.map((i) => i[k]))]);
}

function union(a, b) {
  if (!a || isEmpty(a)) return b;
  if (isEmpty(b)) return a;
  const loose = a.loose || b.loose;
  if (a.points && b.points && a.points.size + b.points.size <= LARGEST) return { points: new Map([...a.points, ...b.points]), loose };
  const [one, two] = [hull(a), hull(b)];
  return { box: one.map(([lo, hi], k) => [Math.min(lo, two[k][0]), Math.max(hi, two[k][1])]), loose: true };
}

const LARGEST = 4096; // elements of a set that are named one by one
const WORK = 300000; // evaluations before boxes take the place of elements

// What a set of elements reads through one map.  `budget.left` is the work that is left.
function readThrough(form, set, budget) {
  const m = form.map;
  const { free, results, limits, choices } = compiled(form);
  const work = set.points ? set.points.size * choices : Infinity;
  if (work > LARGEST * 8 || work > budget.left) {
    const env = {};
    const box = hull(set);
    for (const [k, [name, lo, hi]] of m.dims.entries()) {
      env[name] = [OPERATORS.max(whole(lo), whole(box[k][0])), OPERATORS.min(whole(hi), whole(box[k][1]))];
      if (env[name][0] > env[name][1]) return pointSet([]);
    }
    for (const [name, lo, hi] of free) env[name] = [lo, hi];
    return { box: m.results.map((e) => bounds(e, env).map(Number)), loose: true };
  }
  budget.left -= work;
  const found = [];
  for (const index of set.points.values()) {
    const env = {};
    const inside = m.dims.every(([name, lo, hi], k) => {
      env[name] = whole(index[k]);
      return env[name] >= whole(lo) && env[name] <= whole(hi);
    });
    const visit = (k) => {
      if (k < free.length) {
        const [name, lo, hi] = free[k];
        for (let x = lo; x <= hi; x++) {
          env[name] = x;
          visit(k + 1);
        }
      } else if (limits.every(([e, lo, hi]) => e(env) >= lo && e(env) <= hi)) {
        found.push(results.map((e) => Number(e(env))));
      }
    };
    if (inside) visit(0);
  }
  const set_ = pointSet(found);
  if (set_.points.size > LARGEST) return { box: hull(set_), loose: true };
  return { ...set_, loose: set.loose || m.rts.length > 0 };
}

// All instructions that elements of one are computed from: by place, the set of each of their arrays.
function followed(module, computation, start, array, set) {
  const reached = new Map([[start, new Map([[array, set]])]]);
  const budget = { left: WORK };
  for (const at of orderFrom(computation, start)) {
    for (const [own, elements] of reached.get(at) || []) {
      for (const edge of computation.instructions[at].reads) {
        if (edge[0] !== own) continue;
        const found = edgeReads(module, computation, edge, elements, budget);
        if (!found || isEmpty(found)) continue;
        const sets = reached.get(edge[1]) || reached.set(edge[1], new Map()).get(edge[1]);
        sets.set(edge[2], union(sets.get(edge[2]), found));
      }
    }
  }
  return reached;
}

function edgeReads(module, computation, [, operand, leaf, maps, unknown, most], elements, budget) {
  const dims = computation.instructions[operand].arrays[leaf][1];
  if (dims === null) return null;
  if (unknown.length) return wholeOf(dims);
  let found = null;
  for (const k of maps) found = union(found, readThrough(module.maps[k], elements, budget));
  return found && most.length ? { ...found, loose: true } : found;
}

// The instructions that one depends on, each before what it reads.
function orderFrom(computation, start) {
  const [order, seen, stack] = [[], new Set(), [[start, 0]]];
  seen.add(start);
  while (stack.length) {
    const top = stack[stack.length - 1];
    const edges = computation.instructions[top[0]].reads;
    if (top[1] === edges.length) order.push(stack.pop()[0]);
    else {
      const next = edges[top[1]++][1];
      if (!seen.has(next)) {
        seen.add(next);
        stack.push([next, 0]);
      }
    }
  }
  return order.reverse();
}

function described(set, dims) {
  const total = dims.reduce((n, d) => n * d, 1);
  if (set.points) {
    const n = set.points.size;
    const one = n === 1 ? `element (${[...set.points.values()][0].join(", ")}) of` : `${n.toLocaleString("en")} of`;
    return `${set.loose ? "at most " : ""}${one} ${many(total, "element")}`;
  }
  if (set.box.every(([lo, hi], k) => lo === 0 && hi === dims[k] - 1)) return `at most all of ${many(total, "element")}`;
  return `at most the box ${set.box.map(([lo, hi]) => (lo === hi ? lo : `${lo}…${hi}`)).join(" × ")} of ${many(total, "element")}`;
}

const holds = (set, index) =>
  set.points ? set.points.has(keyOf(index)) : set.box.every(([lo, hi], k) => index[k] >= lo && index[k] <= hi);

// ------------------------------------------------------------------------------------------------------ pictures
const CELL = 17;
const [ROWS, COLUMNS, PANELS] = [14, 24, 3];

// An array as panels of rows and columns; `marks` is the set that is coloured, `choose` is told of cells.
function grid(dims, marks, tone, choose) {
  const rank = dims.length;
  const [rows, columns] = [1, 1, ...dims].slice(-2);
  const front = dims.slice(0, -2);
  const empty = dims.includes(0) || isEmpty(marks);
  const box = empty ? dims.map(() => [0, 0]) : hull(marks);
  const first = [1, 1, ...box.map(([lo]) => lo)].slice(-2);
  if (rank < 2) first[0] = 0;
  if (rank < 1) first[1] = 0;
  const span = (n, most, lo) => {
    const from = n <= most ? 0 : Math.min(Math.max(lo - 1, 0), n - most);
    return Array.from({ length: Math.min(n, most) }, (_, k) => from + k);
  };
  const shownRows = span(rows, ROWS, first[0]);
  const shownColumns = span(columns, COLUMNS, first[1]);
  let panels = [];
  if (!empty && marks.points) {
    panels = [...new Map([...marks.points.values()].map((i) => [keyOf(i.slice(0, -2)), i.slice(0, -2)])).values()];
  } else panels = [front.map((_, k) => box[k][0])];
  const hidden = panels.length - PANELS;
  const sheets = panels.slice(0, PANELS).map((panel) => {
    const left = rank > 1 ? 10 + 6 * String(shownRows.at(-1)).length : 4;
    const parts = [];
    shownRows.forEach((r, y) => {
      shownColumns.forEach((c, x) => {
        const index = [...panel, r, c].slice(rank < 2 ? -rank || 2 : 0);
        const on = !empty && holds(marks, index);
        const at = { x: left + x * CELL, y: 16 + y * CELL, width: CELL, height: CELL, class: on ? `cell ${tone}` : "cell" };
        if (choose) at.onclick = (event) => choose(index, event.shiftKey);
        parts.push(svg("rect", at, svg("title", {}, `(${index.join(", ")})`)));
      });
    });
    const labelled = (list, place) => list.filter((_, k) => k % 4 === 0 || k === list.length - 1 && k % 4 > 1).map(place);
    if (rank > 0) parts.push(labelled(shownColumns, (c) => svg("text", { x: left + (c - shownColumns[0] + 0.5) * CELL, y: 11, "text-anchor": "middle" }, c)));
    if (rank > 1) parts.push(labelled(shownRows, (r) => svg("text", { x: left - 5, y: 16 + (r - shownRows[0] + 0.5) * CELL + 3.5, "text-anchor": "end" }, r)));
    const size = [left + shownColumns.length * CELL + 2, 18 + shownRows.length * CELL];
    const label = `array ${dims.join(" by ") || "of one element"}: ${empty ? "nothing" : described(marks, dims)} marked`;
    const attributes = { width: size[0], height: size[1], viewBox: `0 0 ${size.join(" ")}`, role: "img", "aria-label": label };
    const sheet = svg("svg", attributes, parts);
    return panel.length ? h("div", {}, h("div", { class: "quiet small" }, `[${panel.join(", ")}, :, :]`), sheet) : sheet;
  });
  const cut = rows > ROWS || columns > COLUMNS;
  const more = [hidden > 0 ? `${many(hidden, "more panel")}` : "", cut ? `a part of ${dims.join(" × ")}` : ""].filter(Boolean);
  return h("div", {}, sheets, more.length ? h("div", {}, quiet(more.join(", "))) : null);
}

// A grid whose elements are chosen: by click, a tile with shift, by arrow keys, or as text.
function chooser(dims, box, changed) {
  const clamp = (x, k) => Math.max(0, Math.min(dims[k] - 1, x));
  const pick = (index, extend) => changed(index.map((x, k) => (extend ? [Math.min(box[k][0], x), Math.max(box[k][1], x)] : [x, x])));
  const picture = grid(dims, boxSet(box), "from", pick);
  const place = h("input", {
    value: box.map(([lo, hi]) => (lo === hi ? lo : `${lo}:${hi + 1}`)).join(", "),
    "aria-label": "Elements: an index or a range lo:hi for each dimension",
    size: 14,
    onchange: (event) => {
      const parts = event.target.value.split(",").map((t) => t.trim().split(":").map(Number));
      if (parts.length === dims.length && parts.flat().every(Number.isInteger)) {
        changed(parts.map(([lo, hi], k) => [clamp(lo, k), clamp(hi === undefined ? lo : hi - 1, k)].sort((a, b) => a - b)));
      }
    },
  });
  picture.tabIndex = 0;
  picture.setAttribute("aria-label", "Elements; the arrow keys move, with shift they make a tile");
  picture.addEventListener("keydown", (event) => {
    const step = { ArrowUp: [-2, -1], ArrowDown: [-2, 1], ArrowLeft: [-1, -1], ArrowRight: [-1, 1] }[event.key];
    const k = step ? dims.length + step[0] : -1;
    if (k < 0) return;
    event.preventDefault();
    const moved = box.map((r) => [...r]);
    moved[k][1] = clamp(moved[k][1] + step[1], k);
    if (event.shiftKey) moved[k][1] = Math.max(moved[k][1], moved[k][0]);
    else moved[k] = [moved[k][1], moved[k][1]];
    if (!event.shiftKey) moved.forEach((r, d) => { if (d !== k) moved[d] = [r[0], r[0]]; });
    changed(moved, true);
  });
  return { picture, place };
}

function boxSet(box) {
  const count = box.reduce((n, [lo, hi]) => n * (hi - lo + 1), 1);
  if (count > LARGEST) return { box, loose: false };
  let all = [[]];
  for (const [lo, hi] of box) all = all.flatMap((i) => Array.from({ length: hi - lo + 1 }, (_, k) => [...i, lo + k]));
  return pointSet(all);
}

// Both sides of a rule along one variable: dots for the left side, rings for the right one.
function chart({ variable, at, points }) {
  const [wide, high, pad] = [340, 150, 26];
  const known = points.flatMap(([, l, r]) => [l, r]).filter((v) => v !== null).map(Number);
  if (!known.length) return null;
  const [lo, hi] = [Math.min(...known), Math.max(...known)];
  const x = (k) => pad + 10 + (k * (wide - pad - 20)) / (points.length - 1);
  const y = (v) => high - pad - ((Number(v) - lo) / (hi - lo || 1)) * (high - 2 * pad);
  const centre = points.findIndex(([k]) => k === at);
  const parts = [
    svg("line", { class: "axis", x1: pad, x2: wide, y1: high - pad + 8, y2: high - pad + 8 }),
    svg("line", { class: "here", x1: x(centre), x2: x(centre), y1: 8, y2: high - pad + 8 }),
    svg("text", { x: pad - 2, y: y(hi) + 3, "text-anchor": "end" }, hi),
    hi > lo ? svg("text", { x: pad - 2, y: y(lo) + 3, "text-anchor": "end" }, lo) : null,
  ];
  points.forEach(([n, left, right, place], k) => {
    const tone = place === "not concerned" || place === "no value" ? " outside" : "";
    if (left !== null) parts.push(svg("circle", { class: `left${tone}`, cx: x(k), cy: y(left), r: 2.6 }));
    if (right !== null) parts.push(svg("circle", { class: `right${tone}`, cx: x(k), cy: y(right), r: 4.6 }));
    if (k % 4 === 0) parts.push(svg("text", { x: x(k), y: high - 4, "text-anchor": "middle" }, n));
  });
  const label = `left and right side for ${variable} around ${at}`;
  return h("figure", {}, h("figcaption", {}, `along ${variable}, the rest as in the counterexample`),
    svg("svg", { width: wide + 8, height: high, role: "img", "aria-label": label }, parts));
}

// ------------------------------------------------------------------------------------------------------- claims
const PAGES = DATA.proved.flatMap((section) => section.pages.map((page) => ({ ...page, section })));
const placeOf = (page) => route("claim", page.family, page.name);

function overview() {
  const counts = {};
  for (const section of DATA.proved) for (const [s, n] of Object.entries(section.counts)) counts[s] = (counts[s] || 0) + n;
  for (const file of DATA.checked) for (const [s, n] of Object.entries(file.counts)) counts[s] = (counts[s] || 0) + n;
  const expected = [...PAGES.filter((p) => p.passes), ...DATA.checked.flatMap((d) => d.files.flatMap((f) => f.claims)).filter((c) => c.as_expected)];
  for (const { verdict: s } of expected.filter((c) => c.verdict !== "PROVED")) {
    counts[s]--;
    counts["AS EXPECTED"] = (counts["AS EXPECTED"] || 0) + 1;
  }
  const total = Object.values(counts).reduce((a, b) => a + b, 0);
  const shown = Object.entries(counts).filter(([s, n]) => n || s === "PROVED" || s === "NOT CHECKED");
  const missing = (counts["NOT CHECKED"] || 0) + (counts.UNDECIDED || 0);
  const failed = PAGES.filter((p) => !p.passes);
  const unmapped = DATA.modules.flatMap((m, k) => m.computations.flatMap((c) => c.instructions
    .filter((i) => i.reads.some((e) => e[4].length)).map((i) => [m, k, c, i])));
  return [
    h("h1", {}, verdict(DATA.verdict), " ", total ? many(total, "obligation") : many(DATA.modules.length, "module")),
    total ? h("div", { class: "numbers" }, shown.map(([s, n]) => h("div", { class: n ? toneOf(s) : "quiet" }, h("b", {}, n.toLocaleString("en")), s.toLowerCase()))) : null,
    total ? h("div", { class: "bar", "aria-hidden": "true" }, shown.map(([s, n]) => h("i", { class: toneOf(s), style: `flex:${n}` }))) : null,
    h("h2", {}, "What was not checked"),
    h("p", {}, missing ? `${many(missing, "obligation")} without an answer. ` : total ? "Every obligation has an answer. " : "No claims were asked about. ",
      DATA.proved.some((s) => s.interrupted) ? "The run was interrupted. " : "",
      DATA.proved.length && !DATA.proved.some((s) => s.confirmed) ? "No second solver was asked. " : "",
      unmapped.length ? `${many(unmapped.length, "instruction")} without a map: what they read is shown as all of their operands.` : ""),
    unmapped.slice(0, 12).map(([m, k, c, i]) => h("p", { class: "small" }, link(route("module", k, c.name, i.name), code(i.name)), ` ${i.opcode}: ${i.reads.find((e) => e[4].length)[4][0]}`)),
    failed.length ? [h("h2", {}, `Not proved: ${failed.length}`), claimTable(failed.slice(0, 100))] : null,
    DATA.compared ? [h("h2", {}, "Since the other run"), h("p", {}, link("#/changes", changesLine()))] : null,
    DATA.proved.map((s) => [
      h("h2", {}, "Claims"),
      table(["Family", "#Claims", "#Obligations", "#Proved", "#False", "#Open"], s.families.map((f) => [
        link(route("claims", f.family), f.family), f.claims.toLocaleString("en"), f.obligations.toLocaleString("en"),
        f.counts.PROVED.toLocaleString("en"), f.counts.REFUTED + f.counts.VACUOUS + f.counts.UNDEFINED || "–", f.counts.UNDECIDED + f.counts["NOT CHECKED"] || "–"])),
      h("h2", {}, "Decided by"),
      table(["Strategy", "#Obligations"], Object.entries(s.strategies).map(([name, n]) => [name, n.toLocaleString("en")])),
      s.confirmed ? [h("h2", {}, `Confirmed by ${s.confirmed.solver}`), table(["What", "#Verdicts"], Object.entries(s.confirmed.counts).map(([what, n]) => [what || "nothing", n.toLocaleString("en")]))] : null,
    ]),
    DATA.modules.length ? [h("h2", {}, "Modules"), table(["Module", "Verdict", "#Computations", "#Instructions"], DATA.modules.map((m, k) => [
      link(route("module", k, m.entry), m.name, quiet(` ${m.file}`)), verdict(m.verdict), m.computations.length, m.computations.reduce((n, c) => n + c.instructions.length, 0).toLocaleString("en")]))] : null,
    DATA.checked.length ? [h("h2", {}, "Claims files"), table(["File", "Verdict", "#Claims"], DATA.checked.flatMap((d, k) => d.files.map((f) => [link(route("file", k), f.file), verdict(d.verdict), f.claims.length])))] : null,
    h("p", { class: "quiet small" }, `indexproof ${DATA.version}. Keys: / search, j and k move, Enter opens, t light or dark, Esc back here.`),
  ];
}

function claimTable(pages) {
  return table(["Name", "Verdict", "#Time", "States"], pages.map((p) => [
    link(placeOf(p), p.name), verdict(p.verdict, p.passes), seconds(p.seconds), code(p.statement || (p.doc || "").split("\n")[0])]));
}

function claimList(family) {
  const select = (name, values, value) => h("select", { "aria-label": name, onchange: refresh }, h("option", { value: "" }, name),
    values.map((v) => h("option", { value: v, selected: v === value }, v)));
  const families = select("every family", [...new Set(PAGES.map((p) => p.family))], family);
  const verdicts = select("every verdict", [...new Set(PAGES.map((p) => p.verdict))]);
  const needless = select("all conditions", ["a condition is not needed", "the right side may overflow"]);
  const text = h("input", { type: "search", placeholder: "Filter", "aria-label": "Filter by name or statement", oninput: refresh });
  const count = quiet();
  const place = h("div");
  function refresh() {
    const wanted = text.value.toLowerCase();
    const found = PAGES.filter((p) => (!families.value || p.family === families.value) && (!verdicts.value || p.verdict === verdicts.value)
      && (!needless.value || (needless.value.startsWith("a") ? p.redundant.length : p.overflows && Object.keys(p.overflows).length))
      && (!wanted || `${p.name} ${p.statement}`.toLowerCase().includes(wanted)));
    count.textContent = many(found.length, "claim");
    place.replaceChildren();
    inBatches(place, chunks(found, 300).map((part) => () => claimTable(part)), 1);
  }
  refresh();
  return [h("h1", {}, "Claims"), h("div", { class: "tools" }, text, families, verdicts, needless, count), place];
}

function chunks(list, size) {
  return Array.from({ length: Math.ceil(list.length / size) || 1 }, (_, k) => list.slice(k * size, (k + 1) * size));
}

// Prose with code between backticks.
const written = (text) => text.split(/`+/).map((part, k) => (k % 2 ? code(part) : part));

// A formula, perhaps behind `for` or `where`.
function mathBehindWord(text) {
  const [, word, formula] = /^((?:for|where) )?(.*)$/s.exec(text);
  return word ? [word, math(formula)] : math(formula);
}

const pointOf = (values) => Object.entries(values).map(([name, value], k) => [k ? ",  " : "", math(`${name} = ${value}`)]);

// Points at which the right side of a rule overflows and its left side does not: one, or one for each machine type.
function overflowsOf(found) {
  const points = Object.entries(found).filter(([, of]) => typeof of === "object");
  const said = "The right side may overflow where the left side does not";
  return (points.length ? points : [["", found]]).map(([type, of]) => h("p", {}, said, type ? `, ${type}: ` : ": ", pointOf(of)));
}

function claimPage(family, name) {
  const p = PAGES.find((q) => q.family === family && q.name === name);
  if (!p) return missing();
  const [statement] = p.lines.filter(([label]) => label === "claim" || label === "value");
  const conditions = p.lines.filter(([label]) => label === "when");
  const rest = p.lines.filter((l) => l !== statement && l[0] !== "when" && (l[0] || l[1]));
  const owed = Object.entries(p.owed);
  const proofs = owed.length === 1 ? owedTable(owed[0][1]) : owed.map(([claim, rows]) => {
    const bad = rows.filter((r) => r[4] && r[1] !== "PROVED").length;
    const details = h("details", { ontoggle: () => details.children.length < 2 && details.append(owedTable(rows)) },
      h("summary", {}, claim, " ", bad ? h("span", { class: "bad" }, `${bad} not proved`) : quiet(many(rows.length, "obligation"))));
    return details;
  });
  return [
    h("div", { class: "crumb" }, link(route("claims", p.family), p.family), p.where ? `  ·  ${p.where}` : ""),
    h("h1", {}, p.name, "  ", verdict(p.verdict, p.passes)),
    (p.doc || "").split(/\n\s*\n/).filter(Boolean).map((text) => h("p", {}, written(text))),
    statement ? h("div", { class: "theorem" }, math(statement[1], true), conditions.length ? h("dl", {}, conditions.map(([, text]) => [h("dt", {}, "when"), h("dd", {}, math(text), needed(p, text))])) : null) : null,
    p.stated ? counterexample({ ...p.stated, statement: "", picture: (p.failed[0] || {}).picture, repairs: p.repairs }) : p.failed.map(counterexample),
    p.op ? [h("h2", {}, "Which elements it reads"), opPicture(p.op)] : null,
    rest.length ? [h("h2", {}, p.op ? "Maps and relation" : rest.some(([label]) => label === "fires") ? "Where it fires" : "More"), h("dl", {}, rest.map(([label, text]) => [h("dt", {}, label), h("dd", {}, mathBehindWord(text))]))] : null,
    p.fired ? firings(p.fired) : null,
    p.jax ? h("p", { class: "jax" }, `Compared with jax on random instances: agree in ${many(p.jax.agree, "test")}`, p.jax.differ ? h("span", { class: "bad" }, `, differ in ${p.jax.differ}`) : "", p.jax.skipped ? `, ${p.jax.skipped} left out.` : ".") : null,
    p.overflows && Object.keys(p.overflows).length ? overflowsOf(p.overflows) : null,
    h("h2", {}, "Proofs"),
    h("p", { class: "small" }, "Again: ", code(`${p.section.command} ${shellWord(p.name)}`)),
    proofs,
  ];
}

// On how many maps a rule fires, and the shortest of them.
function firings(f) {
  const said = `Fires on ${f.maps.toLocaleString("en")} of ${many(f.of, "map")} of published descriptions and of the modules of this report`;
  if (!f.example) return h("p", { class: "fired" }, `${said}.`);
  const { where, before, after } = f.example;
  return [h("p", { class: "fired" }, `${said}, for example on ${where}:`),
    h("dl", {}, h("dt", {}, "before"), h("dd", {}, code(before)), h("dt", {}, "after"), h("dd", {}, code(after)))];
}

const shellWord = (word) => (/^[\w=,.:/-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);

// Whether a condition is needed is an obligation of its own; without its answer nothing is said.
function needed(p, condition) {
  const row = Object.values(p.owed).flat().find(([kind]) => kind === `needs ${condition}`);
  return row ? h("span", { class: "needless" }, finding(...row)) : null;
}

// Findings decide no verdict: what they say of a condition, or of machine integers.
function finding(kind, status) {
  if (kind.startsWith("needs")) return { PROVED: "needed", VACUOUS: "not needed for truth" }[status] || "not known whether needed";
  return { PROVED: "holds", REFUTED: "does not hold" }[status] || status.toLowerCase();
}

function owedTable(rows) {
  return table(["Obligation", "Verdict", "By", "Confirmed", "Certificate", "#Time"], rows.map(([kind, status, strategy, time, gate, confirmed, certificate]) => [
    [kind, gate ? null : quiet("  a finding")], gate ? verdict(status) : quiet(finding(kind, status)), strategy, confirmed || quiet("–"),
    certificate ? link(`certificates/${encodeURIComponent(certificate)}`, "file") : quiet("–"), seconds(time)]));
}

function counterexample(f) {
  return h("section", { "aria-label": "Counterexample" },
    h("h2", {}, f.counterexample ? "Counterexample" : "Not proved", f.obligation ? `: ${f.obligation}` : ""),
    f.counterexample ? h("p", {}, pointOf(f.counterexample)) : null,
    f.also ? h("p", { class: "quiet" }, `Fails in ${f.also}.`) : null,
    f.statement ? h("p", {}, math(f.statement)) : null,
    f.tried && f.tried.length && !f.counterexample ? h("p", {}, `Tried: ${f.tried.join(", ")}. ${f.detail || ""}`) : null,
    f.picture && f.picture.length ? [h("div", { class: "picture" }, f.picture.map(chart)), h("p", { class: "quiet small" }, "Dots are the left side, rings the right one; pale where the rule says nothing.")] : null,
    f.subterms && f.subterms.length ? table(["Side", "Term", "#Value"], f.subterms.map((t) => [t.side, math(t.term), t.value === null ? "no value" : String(t.value)])) : null,
    f.hypotheses && f.hypotheses.length ? table(["Condition", "Holds"], [...f.hypotheses, ...(f.goal || [])].map((c) => [math(c.condition), c.holds === null ? "no value" : c.holds ? "yes" : h("span", { class: "bad" }, "no")])) : null,
    f.repairs && f.repairs.length ? h("p", {}, "True with the condition ", math(f.repairs[0]), f.repairs.length > 1 ? [" or ", math(f.repairs[1])] : null) : null,
    f.again ? h("p", { class: "small" }, "Again: ", code(f.again)) : null);
}

function opPicture(op) {
  const place = h("div");
  const show = (box, focus) => {
    const from = boxSet(box);
    const { picture, place: text } = chooser(op.output, box, show);
    const budget = { left: WORK };
    const operands = op.operands.map((dims, k) => {
      let reads = pointSet([]);
      for (const m of op.maps[k] || []) reads = union(reads, readThrough(m, from, budget));
      return h("figure", {}, h("figcaption", {}, `operand${op.operands.length > 1 ? " " + k : ""}: ${described(reads, dims)}`), grid(dims, reads, "reads"));
    });
    place.replaceChildren(h("p", { class: "quiet small" }, code(op.text), `  Click an element of the output, or use the arrow keys; with shift a tile.`),
      h("div", { class: "picture" }, h("figure", {}, h("figcaption", {}, "output ", text), picture), operands));
    if (focus) picture.focus();
  };
  show(op.output.map((n) => [Math.min(1, n - 1), Math.min(1, n - 1)]));
  return place;
}

function filePage(k) {
  const d = DATA.checked[k];
  if (!d) return missing();
  return d.files.map((f) => [h("h1", {}, f.file), f.claims.map((c) => h("section", { class: "step" },
    h("h3", {}, c.name, "  ", verdict(c.verdict, c.as_expected || undefined), c.as_expected ? null : h("span", { class: "bad" }, `  expected ${c.expected}`), quiet(`  line ${c.line}`)),
    h("p", {}, code(c.claim.trim())), c.shows ? h("p", {}, c.shows) : null, c.notes.map((n) => h("p", { class: "quiet" }, n)),
    c.verdict === "PROVED" ? null : c.right.map((m) => h("p", {}, "right: ", code(m.text)))))]);
}

// ------------------------------------------------------------------------------------------------------ changes
function changesLine() {
  const c = DATA.compared;
  return `${many(c.changes.length, "verdict")} changed: ${c.lost} lost, ${c.gained} gained; ${many(c.before, "verdict")} before, ${many(c.now, "verdict")} now`;
}

function changes() {
  const place = h("div");
  inBatches(place, chunks(DATA.compared.changes, 300).map((rows) => () => table(["Name", "Before", "Now"], rows.map(([name, before, now]) => [name, before ? verdict(before) : quiet("absent"), now ? verdict(now) : quiet("absent")]))), 1);
  return [h("h1", {}, "Changes"), h("p", {}, changesLine()), place];
}

// ----------------------------------------------------------------------------------------------------- explorer
function modulePage(number, computationName, instructionName) {
  const module = DATA.modules[number];
  const c = module && module.computations.find((x) => x.name === (computationName || module.entry));
  if (!c) return missing();
  const found = c.instructions.findIndex((i) => i.name === instructionName);
  const start = found < 0 ? c.root : found;
  const chosen = c.instructions[start];
  const array = Math.max(0, chosen.arrays.findIndex(([, dims]) => dims && !dims.includes(0)));
  const place = h("div");
  const list = h("ol", { "aria-label": "Instructions" });
  const items = c.instructions.map((i, k) => h("li", {}, h("a", { href: route("module", number, c.name, i.name), title: i.text, "aria-current": k === start ? "true" : null }, h("b", {}, i.name), h("span", {}, i.opcode))));
  list.append(...items);
  const filter = h("input", { type: "search", placeholder: "Filter instructions", "aria-label": "Filter instructions",
    oninput: () => items.forEach((item) => { item.hidden = !item.textContent.toLowerCase().includes(filter.value.toLowerCase()); }) });

  const show = (own, box, focus) => {
    const [text, dims] = chosen.arrays[own] || ["no array", null];
    if (!dims || dims.includes(0)) return place.replaceChildren(h("p", {}, `${text}: there are no elements to follow.`));
    const from = boxSet(box);
    const reached = followed(module, c, start, own, from);
    items.forEach((item, k) => item.firstChild.classList.toggle("read", reached.has(k)));
    const { picture, place: input } = chooser(dims, box, (b, f) => show(own, b, f));
    const order = orderFrom(c, start).filter((k) => reached.has(k));
    const parameters = order.filter((k) => c.instructions[k].opcode === "parameter").sort((a, b) => a - b);
    const arrays = chosen.arrays.length > 1 ? h("select", { "aria-label": "Array", onchange: (e) => show(+e.target.value, startOf(chosen.arrays[+e.target.value][1] || [])) },
      chosen.arrays.map(([t], k) => h("option", { value: k, selected: k === own }, `[${k}] ${t}`))) : null;
    const steps = h("div");
    place.replaceChildren(
      h("div", { class: "picture" },
        h("figure", {}, h("figcaption", {}, `${text}  `, input, arrays), picture, quiet("Click an element, with shift a tile; arrow keys move.")),
        parameters.slice(0, 8).map((k) => [...reached.get(k)].map(([leaf, set]) => readFigure(c.instructions[k], leaf, set)))),
      h("p", {}, parameters.length ? `${many(order.length, "instruction")}, ${many(parameters.length, "parameter")} read.` : `${many(order.length, "instruction")}; no parameter is read.`,
        parameters.length > 8 ? ` The first 8 are drawn.` : ""),
      steps);
    inBatches(steps, order.map((k) => () => stepOf(module, number, c, k, reached)), 25);
    document.getElementById("status").textContent = `${described(from, dims)} read ${many(parameters.length, "parameter")} through ${many(order.length, "instruction")}`;
    if (focus) picture.focus({ preventScroll: true });
  };
  show(array, startOf((chosen.arrays[array] || [])[1] || []));
  setTimeout(() => { list.scrollTop = items[start].offsetTop - list.offsetTop - list.clientHeight / 2; });
  const others = h("select", { "aria-label": "Computation", onchange: (e) => { location.hash = route("module", number, e.target.value); } },
    module.computations.map((x) => h("option", { value: x.name, selected: x === c }, x.name)));
  return [
    h("div", { class: "crumb" }, `${module.name}  ·  ${module.file}`),
    h("h1", {}, chosen.name, "  ", verdict(c.verdict)),
    h("p", { class: "small" }, code(chosen.text)),
    h("div", { class: "explorer" }, h("aside", {}, h("div", { class: "tools" }, others), filter, list), h("div", {}, place, computationProof(c))),
  ];
}

const startOf = (dims) => dims.map((n) => [n >> 1, n >> 1]);

function readFigure(instruction, leaf, set) {
  const [text, dims] = instruction.arrays[leaf];
  return h("figure", {}, h("figcaption", {}, h("b", {}, instruction.name), ` ${text}: ${described(set, dims)}`), grid(dims, set, "reads"));
}

function stepOf(module, number, c, k, reached) {
  const i = c.instructions[k];
  const sets = [...reached.get(k)].filter(([own]) => i.arrays[own] && i.arrays[own][1]);
  return h("section", { class: "step", id: `step-${k}` },
    h("h3", {}, link(route("module", number, c.name, i.name), i.name), "  ", quiet(i.opcode)),
    sets.map(([own, set]) => h("div", { class: "quiet small" }, `${i.arrays[own][0]}: ${described(set, i.arrays[own][1])}`)),
    h("details", {}, h("summary", { class: "quiet small" }, "picture"), sets.map(([own, set]) => readFigure(i, own, set))),
    i.reads.filter(([own]) => reached.get(k).has(own)).map((edge) => edgeOf(module, number, c, k, edge)),
    h("div", { id: `proof-${k}` }, i.proofs.map(([kind, status, detail, n]) => h("span", { class: `chip ${status === "PROVED" ? "" : "bad"}`, title: detail || status }, `${status === "PROVED" ? "✓" : "✗"} ${kind}${n > 1 ? ` × ${n}` : ""}`)),
      i.called.filter((name) => module.computations.some((x) => x.name === name)).map((name) => [link(route("module", number, name), `inside ${name}`), "  "])));
}

function edgeOf(module, number, c, at, [, operand, leaf, maps, unknown, most]) {
  const i = c.instructions[at];
  const source = c.instructions[operand];
  const jump = (id, ...shown) => h("a", { href: `#${id}`, onclick: (e) => {
    e.preventDefault();
    const target = document.getElementById(id);
    if (target) target.scrollIntoView({ block: "center" });
  } }, shown);
  const inside = i.called.find((name) => module.computations.some((x) => x.name === name));
  const proof = i.proofs.length ? jump(`proof-${at}`, "proof") : inside ? link(route("module", number, inside), `proof: composed inside ${inside}`) : quiet("the same element, by definition");
  return h("div", { class: "edge" },
    h("div", { class: "small" }, "reads ", jump(`step-${operand}`, code(source.name)), source.arrays.length > 1 ? `[${leaf}]` : "", "  ", proof),
    maps.map((m) => h("div", {}, code(module.maps[m].text))),
    unknown.map((why) => h("div", { class: "open small" }, `not known, so all of it: ${why}`)),
    most.map((why) => h("div", { class: "open small" }, `at most: ${why}`)));
}

function computationProof(c) {
  return h("section", {}, h("h2", { id: "proof" }, "Proof of this computation"),
    table(["Question", "#Asked"], Object.entries(c.questions)),
    c.failed.map(([kind, where, status, detail]) => h("p", {}, verdict(status), ` ${kind}, ${where}: ${detail}`)));
}

// ------------------------------------------------------------------------------------------------------- search
function results(wanted) {
  const words = wanted.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = (text) => words.every((w) => text.toLowerCase().includes(w));
  const claims = PAGES.filter((p) => fits(`${p.name} ${p.family} ${p.statement}`));
  claims.sort((a, b) => b.name.toLowerCase().startsWith(words[0]) - a.name.toLowerCase().startsWith(words[0]));
  const instructions = DATA.modules.flatMap((m, k) => m.computations.flatMap((c) => c.instructions.filter((i) => fits(`${i.name} ${i.opcode}`)).map((i) => [k, c, i])));
  const written = DATA.checked.flatMap((d, k) => d.files.flatMap((f) => f.claims.filter((c) => fits(`${c.name} ${c.claim}`)).map((c) => [k, c])));
  return [
    h("h1", {}, `${many(claims.length + instructions.length + written.length, "result")} for “${wanted}”`),
    claims.length ? claimTable(claims.slice(0, 100)) : null,
    written.slice(0, 50).map(([k, c]) => h("p", {}, link(route("file", k), c.name), " ", verdict(c.verdict, c.as_expected))),
    instructions.length ? table(["Instruction", "Operation", "Computation"], instructions.slice(0, 100).map(([k, c, i]) => [link(route("module", k, c.name, i.name), i.name), i.opcode, c.name])) : null,
  ];
}

// ----------------------------------------------------------------------------------------------------- the page
const missing = () => [h("h1", {}, "There is no such page"), h("p", {}, link("#/", "Overview"))];
const SECTIONS = [
  ["#/", "Overview", true],
  ["#/claims", "Claims", PAGES.length],
  ...DATA.modules.map((m, k) => [route("module", k), m.name, true]),
  ...DATA.checked.map((d, k) => [route("file", k), d.files.length ? d.files[0].file.split("/").pop() : "claims", true]),
  ["#/changes", "Changes", DATA.compared],
].filter(([, , there]) => there);

function showPage() {
  if (location.hash && !location.hash.startsWith("#/")) return;
  const parts = location.hash.slice(2).split("/").map(decodeURIComponent);
  const views = {
    "": overview, claims: claimList, claim: claimPage, module: modulePage, file: filePage, search: results,
    changes: DATA.compared ? changes : missing,
  };
  const view = Object.hasOwn(views, parts[0]) ? views[parts[0]] : missing;
  main.replaceChildren(...[view(...parts.slice(1))].flat(Infinity).filter(Boolean));
  document.getElementById("nav").replaceChildren(...SECTIONS.map(([place, text]) => h("a", { href: place,
    "aria-current": place === "#/" ? (parts[0] === "" ? "page" : null) : location.hash.startsWith(place) || (place === "#/claims" && parts[0] === "claim") ? "page" : null }, text)));
  document.title = `${(main.querySelector("h1") || main).textContent.trim().slice(0, 80)} – indexproof`;
  window.scrollTo(0, 0);
  performance.mark("shown");
}

function mark(step) {
  const rows = [...main.querySelectorAll("tbody tr")];
  const at = rows.findIndex((r) => r.getAttribute("aria-selected") === "true");
  if (at >= 0) rows[at].removeAttribute("aria-selected");
  const row = rows[Math.max(0, Math.min(rows.length - 1, at + step))];
  if (!row) return;
  row.setAttribute("aria-selected", "true");
  const target = row.querySelector("a");
  if (target) target.focus();
  row.scrollIntoView({ block: "nearest" });
}

const root = document.documentElement;
const stored = () => { try { return localStorage.getItem("theme"); } catch (error) { return null; } };
function theme(name) {
  root.dataset.theme = name;
  try { localStorage.setItem("theme", name); } catch (error) { /* a page from a file may have no storage */ }
}
const flip = () => theme(root.dataset.theme === "dark" ? "light" : "dark");
root.dataset.theme = stored() || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
document.getElementById("theme").addEventListener("click", flip);

search.addEventListener("input", () => {
  history.replaceState(null, "", search.value.trim() ? route("search", search.value.trim()) : "#/");
  showPage();
});
search.addEventListener("keydown", (event) => {
  const first = event.key === "Enter" && main.querySelector("a");
  if (first) location.hash = first.getAttribute("href");
});
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape") {
    search.value = "";
    search.blur();
    location.hash = "#/";
  } else if (!/^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) {
    const action = { "/": () => { event.preventDefault(); search.focus(); }, j: () => mark(1), k: () => mark(-1), t: flip }[event.key];
    if (action) action();
  }
});
window.addEventListener("hashchange", showPage);
showPage();
