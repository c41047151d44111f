// The board: points in SVG over a canvas of regions. It draws what the server sends and reports what hands do.
import { bytes, COLOURS, el, Layer, shape, svg, t } from "./dom.js";

export const VIEW = { left: -4, right: 4, low: -3, high: 3 };
const W = 880, H = 660, UNIT = W / (VIEW.right - VIEW.left);
const CELLS = { columns: 160, rows: 120 };
const MANY = 1500; // points beyond which the canvas draws them
const STRIPS = 16; // paths of residuals: one path of all would be drawn whole in every tile of the picture
const AMBIGUOUS = 255;
const DRAWN = ["band", "residuals", "over"]; // layers that a frame fills
const REACH = 0.22, FINGER = 0.45; // how near to a point the pointer takes it

export const windowMessage = { ...VIEW, ...CELLS };
export const px = (x) => (x - VIEW.left) * UNIT;
export const py = (y) => (VIEW.high - y) * UNIT;
const ux = (x) => VIEW.left + x / UNIT;
const uy = (y) => VIEW.high - y / UNIT;
const round = (value) => Math.round(value * 1000) / 1000;
const tenth = (pixels) => Math.round(10 * pixels) / 10;
const clamp = (value, low, high) => Math.min(high, Math.max(low, value));

let palette = null;
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { palette = null; });

function colours() {
  if (palette) return palette;
  const style = getComputedStyle(document.documentElement);
  const read = (name) => {
    const hex = style.getPropertyValue(name).trim();
    return [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
  };
  palette = { classes: Array.from({ length: COLOURS }, (_, k) => read(`--c${k}`)), ink: read("--ink") };
  return palette;
}

// A colour as the canvas keeps it: four bytes, the red one first.
const packed = ([r, g, b], alpha) => ((Math.round(alpha) << 24) | (b << 16) | (g << 8) | r) >>> 0;

export class Board {
  constructor(slot, app) {
    this.slot = slot;
    this.app = app;
    this.cursor = [0, 0];
    this.chosen = null;
    this.canvas = el("canvas", { width: CELLS.columns, height: CELLS.rows, "aria-hidden": "true" });
    this.cells = this.canvas.getContext("2d", { willReadFrequently: true }); // a picture of bytes: nothing for a device
    this.crowd = el("canvas", { width: W, height: H, "aria-hidden": "true", hidden: true });
    this.dots = this.crowd.getContext("2d", { willReadFrequently: true });
    this.svg = svg("svg", { viewBox: `0 0 ${W} ${H}`, tabindex: 0, role: "application", id: `board-${slot}` });
    this.layers = {};
    for (const name of ["grid", "names", "held", "band", "residuals", "points", "over", "cursor"]) {
      this.layers[name] = new Layer(name);
      this.svg.append(this.layers[name].group);
    }
    this.shown = []; // of each point: its node, its row of the state, and its look as numbers
    this.caption = el("figcaption");
    this.figure = el("figure", {}, this.caption, el("div", { class: "frame" }, this.canvas, this.crowd, this.svg));
    this.grid();
    this.listen();
  }

  grid() {
    const layer = this.layers.grid;
    for (let x = VIEW.left; x <= VIEW.right; x++) {
      layer.put("line", { class: x === 0 ? "axis" : "gridline", x1: px(x), x2: px(x), y1: 0, y2: H });
      if (x > VIEW.left && x < VIEW.right && x % 2 === 0) {
        layer.put("text", { class: "tick", x: px(x) + 5, y: H - 8 }, String(x).replace("-", "−"));
      }
    }
    for (let y = VIEW.low; y <= VIEW.high; y++) {
      layer.put("line", { class: y === 0 ? "axis" : "gridline", x1: 0, x2: W, y1: py(y), y2: py(y) });
      if (y > VIEW.low && y < VIEW.high && y % 2 === 0) {
        layer.put("text", { class: "tick", x: 8, y: py(y) - 6 }, String(y).replace("-", "−"));
      }
    }
  }

  place(event) {
    const box = this.svg.getBoundingClientRect();
    const x = ux(((event.clientX - box.left) / box.width) * W);
    const y = uy(((event.clientY - box.top) / box.height) * H);
    return [round(clamp(x, VIEW.left, VIEW.right)), round(clamp(y, VIEW.low, VIEW.high))];
  }

  near([x, y], reach = REACH) {
    let best = null, least = reach * reach;
    this.app.state.points.forEach(([a, b], i) => {
      const d = (a - x) ** 2 + (b - y) ** 2;
      if (d < least) { least = d; best = i; }
    });
    return best;
  }

  listen() {
    const area = this.svg;
    area.addEventListener("pointerdown", (event) => {
      if (event.button !== 0 || !event.isPrimary) return; // a second finger does nothing
      const reach = event.pointerType === "touch" ? FINGER : REACH;
      const here = this.place(event), found = this.near(here, reach), tool = this.app.tool;
      area.setPointerCapture(event.pointerId);
      event.preventDefault();
      area.focus({ preventScroll: true });
      if (this.handle && Math.hypot(here[0] - this.handle.at[0], here[1] - this.handle.at[1]) < 1.5 * reach) {
        this.drag = { turn: this.handle.turn };
        return;
      }
      this.app.remember();
      if (tool === "erase") { this.drag = { erase: true }; this.erase(here); }
      else if (tool === "brush") { this.drag = { brush: true }; this.brush(here); }
      else if (found !== null) this.drag = { move: found };
      else if (tool === "add") this.app.add(here);
      else this.app.forget();
    });
    area.addEventListener("pointermove", (event) => {
      if (!this.drag || !event.isPrimary) return;
      const here = this.place(event);
      if (this.drag.turn) this.drag.turn(here);
      else if (this.drag.erase) this.erase(here);
      else if (this.drag.brush) this.brush(here);
      else this.app.move(this.drag.move, here);
    });
    const end = (event) => {
      if (!this.drag || !event.isPrimary) return;
      const { turn, move } = this.drag;
      this.drag = null;
      if (turn || this.app.unchanged()) return;
      if (move !== undefined && this.app.state.points[move]) this.app.say(t("moved", { x: this.app.state.points[move][0], y: this.app.state.points[move][1] }));
      this.app.settle();
    };
    area.addEventListener("pointerup", end);
    area.addEventListener("pointercancel", end);
    area.addEventListener("contextmenu", (event) => {
      const found = this.near(this.place(event));
      if (found === null) return;
      event.preventDefault();
      if (event.pointerType === "touch") return; // a finger that rests on a point
      this.app.remember();
      this.app.remove(found);
    });
    area.addEventListener("keydown", (event) => this.key(event));
    area.addEventListener("focus", () => this.drawCursor());
    area.addEventListener("blur", () => this.layers.cursor.clear());
  }

  erase(here) {
    const found = this.near(here, 0.3);
    if (found !== null) this.app.remove(found);
  }

  brush([x, y]) {
    const touched = this.app.state.points.map(([a, b], i) => [i, (a - x) ** 2 + (b - y) ** 2]).filter(([, d]) => d < 0.36);
    this.app.shake(touched.map(([i]) => i));
  }

  key(event) {
    const step = event.altKey ? 0.05 : 0.2;
    const moves = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, step], ArrowDown: [0, -step] };
    const points = this.app.state.points;
    if (event.key in moves && !event.ctrlKey && !event.metaKey) {
      const [dx, dy] = moves[event.key];
      if (event.shiftKey && this.chosen !== null && points[this.chosen]) {
        this.app.remember();
        const [x, y] = points[this.chosen];
        const there = [round(clamp(x + dx, VIEW.left, VIEW.right)), round(clamp(y + dy, VIEW.low, VIEW.high))];
        this.app.move(this.chosen, there);
        this.app.settle();
        this.cursor = there;
      } else {
        this.cursor = [round(clamp(this.cursor[0] + dx, VIEW.left, VIEW.right)), round(clamp(this.cursor[1] + dy, VIEW.low, VIEW.high))];
        this.app.say(t("cursor-at", { x: this.cursor[0].toFixed(1), y: this.cursor[1].toFixed(1) }));
      }
    } else if (event.key === "Enter" || event.key === " ") {
      this.app.remember();
      this.app.add([...this.cursor]);
    } else if (event.key === "Delete" || event.key === "Backspace") {
      const found = this.chosen ?? this.near(this.cursor, 0.4);
      if (found !== null && points[found]) { this.app.remember(); this.app.remove(found); this.chosen = null; }
    } else if ((event.key === "[" || event.key === "]") && points.length) {
      const next = this.chosen === null ? 0 : this.chosen + (event.key === "]" ? 1 : -1);
      this.chosen = (next + points.length) % points.length;
      this.cursor = points[this.chosen].slice(0, 2);
      this.app.say(t("chosen-point", { n: this.chosen + 1, count: points.length, x: this.cursor[0], y: this.cursor[1] }));
    } else if (/^[1-5]$/.test(event.key)) {
      this.app.choose(Number(event.key) - 1);
    } else return;
    event.preventDefault();
    this.drawCursor();
    this.points();
  }

  drawCursor() {
    const [x, y] = [px(this.cursor[0]), py(this.cursor[1])], layer = this.layers.cursor;
    layer.begin();
    layer.put("path", { class: "cursor", d: `M${x - 18},${y}H${x + 18}M${x},${y - 18}V${y + 18}` });
  }

  // Points: one shape each, or on the canvas where they are many. Those that look as before are not touched.
  points() {
    const { points, task } = this.app.state, { shown } = this;
    const wanted = points.length > MANY ? 0 : points.length;
    for (const one of shown.splice(wanted)) one.node.remove();
    while (shown.length < wanted) {
      const node = svg("path");
      this.layers.points.group.append(node);
      shown.push({ node, row: null, k: -1, size: 0, marks: -1 });
    }
    const labels = this.frame?.labels?.length === points.length ? this.frame.labels : null;
    const plain = task === "numbers" && wanted > 250; // without rims, which take long to draw
    const size = wanted <= 100 ? 11 : wanted <= 250 ? 9 : plain ? 6 : 7;
    this.layers.points.group.classList.toggle("plain", plain);
    const wrong = new Set(this.frame?.wrong), now = this.frame?.row;
    for (let i = 0; i < wanted; i++) {
      const one = shown[i], row = points[i];
      const k = task === "classes" ? row[2] : task === "clusters" && labels ? labels[i] % COLOURS : 0;
      const marks = (wrong.has(i) ? 1 : 0) + (now === i ? 2 : 0) + (this.chosen === i ? 4 : 0);
      if (one.row !== row || one.k !== k || one.size !== size) one.node.setAttribute("d", shape(k, size, tenth(px(row[0])), tenth(py(row[1]))));
      if (one.k !== k || one.marks !== marks) one.node.setAttribute("class", `point c${k}${marks & 1 ? " wrong" : ""}${marks & 2 ? " now" : ""}${marks & 4 ? " chosen" : ""}`);
      one.row = row;
      one.k = k;
      one.size = size;
      one.marks = marks;
    }
    this.crowded();
    this.axisNames();
    this.heldBack();
  }

  // Points that are held back to judge by: hollow, and out of reach of hands.
  heldBack() {
    const { held, task } = this.app.state, layer = this.layers.held;
    if (this.heldShown === held) return;
    this.heldShown = held;
    layer.begin();
    for (const [x, y, label] of held ?? []) {
      const k = task === "classes" ? label : 0;
      layer.put("path", { class: `held s${k}`, d: shape(k, 6, tenth(px(x)), tenth(py(y))) });
    }
    layer.end();
  }

  axisNames() {
    const { names, task } = this.app.state, layer = this.layers.names;
    layer.begin();
    if (names && task !== "clusters") {
      layer.put("text", { class: "tick", x: W - 10, y: H - 34, "text-anchor": "end" }, names.across);
      layer.put("text", { class: "tick", x: 10, y: 26 }, names.up);
    }
    layer.end();
  }

  // What is on the board: above it, and for those who do not see it.
  describe(call) {
    const { points, task } = this.app.state;
    if (this.caption.textContent !== call) this.caption.textContent = this.caption.title = call;
    this.svg.setAttribute("aria-label", t("board-label", { count: points.length, task: t(`task ${task}`), call }));
  }

  clear() {
    this.frame = null;
    for (const name of DRAWN) this.layers[name].clear();
    this.regions({});
    this.points();
  }

  draw(frame) {
    this.frame = frame;
    this.regions(frame);
    this.points();
    for (const name of DRAWN) this.layers[name].begin();
    if (frame.planes) this.planes(frame);
    if (frame.curve) this.curve(frame);
    if (frame.centres) this.centres(frame);
    if (this.extra) this.extra(this);
    for (const name of DRAWN) this.layers[name].end();
  }

  // The regions of a frame, unless they are those that are shown.
  regions({ regions, sure }) {
    const known = new Set();
    if (sure) for (const [, , k] of this.app.state.points) known.add(k);
    const { classes, ink } = colours(), look = { regions, sure, classes, known: known.size };
    if (Object.entries(look).every(([name, value]) => this.look?.[name] === value)) return;
    this.look = look;
    if (!regions) return this.cells.clearRect(0, 0, CELLS.columns, CELLS.rows);
    const label = bytes(regions), share = sure ? bytes(sure) : null;
    const image = this.cells.createImageData(CELLS.columns, CELLS.rows);
    const floor = 255 / Math.max(2, known.size);
    const strength = (p) => 22 + 90 * (share ? clamp((p - floor) / (255 - floor), 0, 1) : 0.6);
    const table = classes.map((one) => Uint32Array.from({ length: 256 }, (_, p) => packed(one, strength(p))));
    const [hatched, open] = [packed(ink, 120), packed(ink, 25)];
    const out = new Uint32Array(image.data.buffer);
    for (let i = 0; i < label.length; i++) {
      out[i] = label[i] === AMBIGUOUS
        ? ((i % CELLS.columns) + Math.floor(i / CELLS.columns)) % 6 < 2 ? hatched : open
        : table[label[i] % COLOURS][share ? share[i] : 0];
    }
    this.cells.putImageData(image, 0, 0);
  }

  // More points than shapes can be moved: squares on a canvas, in the colour of their class or cluster.
  crowded() {
    const { points, task } = this.app.state, labels = task === "clusters" ? this.frame?.labels : null, { classes } = colours();
    const few = points.length <= MANY;
    if (this.crowd.hidden !== few) this.crowd.hidden = few;
    if (few || [points, labels, classes].every((one, k) => one === this.crowdShown?.[k])) return;
    this.crowdShown = [points, labels, classes];
    const image = this.dots.createImageData(W, H), out = new Uint32Array(image.data.buffer);
    const inks = classes.map((one) => packed(one, 255));
    points.forEach(([x, y, k], i) => {
      const ink = inks[task === "classes" ? k : (labels?.[i] ?? 0) % COLOURS], left = Math.round(px(x)) - 2, top = Math.round(py(y)) - 2;
      const from = Math.max(0, left), to = Math.min(W, left + 5);
      for (let row = Math.max(0, top); from < to && row < Math.min(H, top + 5); row++) out.fill(ink, row * W + from, row * W + to);
    });
    this.dots.putImageData(image, 0, 0);
  }

  // The two ends of w0 + w1 x + w2 y = 0 in the view; null where it does not cross it.
  static ends([w0, w1, w2], shift = 0) {
    const c = w0 + shift, out = [];
    const keep = (x, y) => {
      const inside = x >= VIEW.left - 1e-9 && x <= VIEW.right + 1e-9 && y >= VIEW.low - 1e-9 && y <= VIEW.high + 1e-9;
      if (inside && !out.some(([a, b]) => Math.abs(a - x) + Math.abs(b - y) < 1e-9)) out.push([x, y]);
    };
    if (w2) for (const x of [VIEW.left, VIEW.right]) keep(x, -(c + w1 * x) / w2);
    if (w1) for (const y of [VIEW.low, VIEW.high]) keep(-(c + w2 * y) / w1, y);
    return out.length >= 2 ? out.slice(0, 2) : null;
  }

  line([[x1, y1], [x2, y2]], attributes) {
    this.layers.over.put("line", { x1: px(x1), y1: py(y1), x2: px(x2), y2: py(y2), ...attributes });
  }

  arrow(from, to, kind = "normal") {
    const [x1, y1, x2, y2] = [px(from[0]), py(from[1]), px(to[0]), py(to[1])];
    const turn = Math.atan2(y2 - y1, x2 - x1);
    const wing = (side) => `${x2 - 16 * Math.cos(turn + side)},${y2 - 16 * Math.sin(turn + side)}`;
    this.layers.over.put("path", { class: kind, d: `M${x1},${y1}L${x2},${y2}M${wing(0.5)}L${x2},${y2}L${wing(-0.5)}` });
  }

  planes(frame) {
    if (frame.planes.length > 1 && !frame.apart) return; // the largest output decides: the regions show it
    for (const w of frame.planes) {
      const ends = Board.ends(w);
      if (!ends) continue;
      this.line(ends, { class: frame.apart ? "plane apart" : "plane", "data-w": w.join(" ") });
      if (frame.apart) continue;
      const length = Math.hypot(w[1], w[2]);
      const middle = [(ends[0][0] + ends[1][0]) / 2, (ends[0][1] + ends[1][1]) / 2];
      const tip = [middle[0] + (0.7 * w[1]) / length, middle[1] + (0.7 * w[2]) / length];
      this.arrow(middle, tip);
      if (!frame.wrong.length && this.app.state.points.length <= MANY) {
        const distances = this.app.state.points.map(([x, y]) => Math.abs(w[0] + w[1] * x + w[2] * y));
        const least = Math.min(...distances);
        for (const shift of [least, -least]) {
          const edge = Board.ends(w, shift);
          if (edge && least > 0) this.line(edge, { class: "margin" });
        }
      }
    }
  }

  curve(frame) {
    const { band, residuals, over } = this.layers;
    const far = (y) => tenth(clamp(py(y), -2000, 2660));
    const across = frame.x.map((x) => tenth(px(x)));
    const path = (ys) => ys.map((y, i) => (y === null ? "" : `${i && ys[i - 1] !== null ? "L" : "M"}${across[i]},${far(y)}`)).join("");
    const between = (low, high) => {
      const there = high.map((y, i) => `${across[i]},${far(y)}`);
      const back = low.map((y, i) => `${across[i]},${far(y)}`).reverse();
      return `M${there.join("L")}L${back.join("L")}z`;
    };
    const known = (one) => one && !one.includes(null);
    if (known(frame.lower)) band.put("path", { class: "band", d: between(frame.lower, frame.upper) });
    if (frame.inner && known(frame.inner[0])) band.put("path", { class: "band", d: between(...frame.inner) });
    const { points } = this.app.state;
    if (points.length <= MANY) {
      const strips = Array(STRIPS).fill("");
      points.forEach(([x, y], i) => {
        if (frame.predicted[i] == null) return;
        strips[clamp(Math.floor((px(x) / W) * STRIPS), 0, STRIPS - 1)] += `M${tenth(px(x))},${tenth(py(y))}V${far(frame.predicted[i])}`;
      });
      for (const d of strips) residuals.put("path", { class: "residual", d });
    }
    over.put("path", { class: "fitted", d: path(frame.curve) });
  }

  centres(frame) {
    const { over } = this.layers;
    frame.centres.forEach(([x, y], k) => {
      if (frame.axes) {
        const [a, b, turn] = frame.axes[k];
        for (const times of [1, 2]) {
          over.put("ellipse", { class: `ellipse s${k % COLOURS}`, rx: times * a * UNIT, ry: times * b * UNIT, transform: `translate(${px(x)},${py(y)}) rotate(${-turn})` });
        }
      }
      over.put("path", { class: "centre", d: shape(4, 14), transform: `translate(${px(x)},${py(y)}) rotate(45)` });
    });
  }
}

export function classMark(k) {
  const mark = svg("svg", { viewBox: "-14 -14 28 28", "aria-hidden": "true" });
  mark.append(svg("path", { class: `c${k}`, d: shape(k) }));
  return mark;
}
