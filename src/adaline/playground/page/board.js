// The board: points in SVG over a canvas of regions. It draws what the server sends and reports what hands do.
import { bytes, COLOURS, el, shape, svg, t } from "./dom.js";

export const VIEW = { left: -4, right: 4, low: -3, high: 3 };
const W = 880, H = 660, UNIT = W / (VIEW.right - VIEW.left);
const CELLS = { columns: 160, rows: 120 };
const MANY = 1500; // points beyond which the canvas draws them
const AMBIGUOUS = 255;
const REACH = 0.22, FINGER = 0.45; // how near to a point the pointer takes it

export const windowMessage = { ...VIEW, ...CELLS };
export const px = (x) => (x - VIEW.left) * UNIT;
export const py = (y) => (VIEW.high - y) * UNIT;
const ux = (x) => VIEW.left + x / UNIT;
const uy = (y) => VIEW.high - y / UNIT;
const round = (value) => Math.round(value * 1000) / 1000;
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
    this.svg = svg("svg", { viewBox: `0 0 ${W} ${H}`, tabindex: 0, role: "application", id: `board-${slot}` });
    this.layers = {};
    for (const name of ["grid", "names", "held", "band", "under", "residuals", "points", "over", "cursor"]) {
      this.layers[name] = svg("g", { class: `layer-${name}` });
      this.svg.append(this.layers[name]);
    }
    this.caption = el("figcaption");
    this.figure = el("figure", {}, this.caption, el("div", { class: "frame" }, this.canvas, this.crowd, this.svg));
    this.grid();
    this.listen();
  }

  grid() {
    const layer = this.layers.grid;
    for (let x = VIEW.left; x <= VIEW.right; x++) {
      layer.append(svg("line", { class: x === 0 ? "axis" : "gridline", x1: px(x), x2: px(x), y1: 0, y2: H }));
      if (x > VIEW.left && x < VIEW.right && x % 2 === 0) {
        layer.append(svg("text", { class: "tick", x: px(x) + 5, y: H - 8 }, String(x).replace("-", "−")));
      }
    }
    for (let y = VIEW.low; y <= VIEW.high; y++) {
      layer.append(svg("line", { class: y === 0 ? "axis" : "gridline", x1: 0, x2: W, y1: py(y), y2: py(y) }));
      if (y > VIEW.low && y < VIEW.high && y % 2 === 0) {
        layer.append(svg("text", { class: "tick", x: 8, y: py(y) - 6 }, String(y).replace("-", "−")));
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
      if (event.button !== 0) return;
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
      if (!this.drag) return;
      const here = this.place(event);
      if (this.drag.turn) this.drag.turn(here);
      else if (this.drag.erase) this.erase(here);
      else if (this.drag.brush) this.brush(here);
      else this.app.move(this.drag.move, here);
    });
    const end = () => {
      if (!this.drag) return;
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
      this.app.remember();
      this.app.remove(found);
    });
    area.addEventListener("keydown", (event) => this.key(event));
    area.addEventListener("focus", () => this.drawCursor());
    area.addEventListener("blur", () => this.layers.cursor.replaceChildren());
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
    this.marks();
  }

  drawCursor() {
    const [x, y] = [px(this.cursor[0]), py(this.cursor[1])];
    this.layers.cursor.replaceChildren(svg("path", { class: "cursor", d: `M${x - 18},${y}H${x + 18}M${x},${y - 18}V${y + 18}` }));
  }

  // Points: one shape each, or on the canvas where they are many.
  points() {
    const { points, task } = this.app.state;
    const layer = this.layers.points;
    const many = points.length > MANY;
    const wanted = many ? 0 : points.length;
    while (layer.children.length > wanted) layer.lastChild.remove();
    while (layer.children.length < wanted) layer.append(svg("path", { class: "point" }));
    const labels = this.frame?.labels, size = wanted <= 100 ? 11 : wanted <= 250 ? 9 : 7;
    for (let i = 0; i < wanted; i++) {
      const [x, y, label] = points[i], one = layer.children[i];
      const k = task === "numbers" ? 0 : task === "clusters" ? (labels && labels.length === points.length ? labels[i] % COLOURS : 0) : label;
      const look = `${k} ${size}`;
      if (one.dataset.look !== look) { one.dataset.look = look; one.dataset.k = k; one.setAttribute("d", shape(k, size)); }
      const place = `translate(${px(x).toFixed(1)},${py(y).toFixed(1)})`;
      if (one.place !== place) { one.place = place; one.setAttribute("transform", place); }
    }
    this.crowded();
    this.axisNames();
    this.heldBack();
    this.marks();
  }

  // Points that are held back to judge by: hollow, and out of reach of hands.
  heldBack() {
    const { held, task } = this.app.state, layer = this.layers.held;
    if (layer.told === held) return;
    layer.told = held;
    layer.replaceChildren();
    for (const [x, y, k] of held ?? []) layer.append(svg("path", { class: `held s${task === "classes" ? k : 0}`, d: shape(task === "classes" ? k : 0, 6), transform: `translate(${px(x).toFixed(1)},${py(y).toFixed(1)})` }));
  }

  axisNames() {
    const { names, task } = this.app.state, layer = this.layers.names;
    const told = names ? [names.across, names.up].join("\n") : "";
    if (layer.told === told) return;
    layer.told = told;
    layer.replaceChildren();
    if (names && task !== "clusters") layer.append(svg("text", { class: "tick", x: W - 10, y: H - 34, "text-anchor": "end" }, names.across), svg("text", { class: "tick", x: 10, y: 26 }, names.up));
  }

  marks() {
    const wrong = new Set(this.frame?.wrong ?? []), now = this.frame?.row;
    const children = this.layers.points.children;
    for (let i = 0; i < children.length; i++) {
      const k = children[i].dataset.k;
      const marks = `${wrong.has(i) ? " wrong" : ""}${now === i ? " now" : ""}${this.chosen === i ? " chosen" : ""}`;
      const name = `point c${k}${marks}`;
      if (children[i].getAttribute("class") !== name) children[i].setAttribute("class", name);
    }
  }

  // What the board is, for those who do not see it.
  describe(call) {
    const { points, task } = this.app.state;
    this.svg.setAttribute("aria-label", t("board-label", { count: points.length, task: t(`task ${task}`), call }));
  }

  clear() {
    this.frame = null;
    for (const name of ["band", "under", "residuals", "over"]) this.layers[name].replaceChildren();
    this.cells.clearRect(0, 0, CELLS.columns, CELLS.rows);
    this.points();
  }

  draw(frame) {
    this.frame = frame;
    this.regions(frame);
    this.points();
    for (const name of ["band", "under", "residuals", "over"]) this.layers[name].replaceChildren();
    if (frame.planes) this.planes(frame);
    if (frame.curve) this.curve(frame);
    if (frame.centres) this.centres(frame);
    if (this.extra) this.extra(this);
  }

  regions(frame) {
    const { points } = this.app.state;
    if (!frame.regions) this.cells.clearRect(0, 0, CELLS.columns, CELLS.rows);
    else {
      const { classes, ink } = colours();
      const label = bytes(frame.regions), sure = frame.sure ? bytes(frame.sure) : null;
      const image = this.cells.createImageData(CELLS.columns, CELLS.rows);
      const known = new Set();
      for (const [, , k] of points) known.add(k);
      const floor = 255 / Math.max(2, known.size);
      const strength = (p) => 22 + 90 * (sure && frame.posterior ? clamp((p - floor) / (255 - floor), 0, 1) : 0.6);
      const table = classes.map((one) => Uint32Array.from({ length: 256 }, (_, p) => packed(one, strength(p))));
      const [hatched, open] = [packed(ink, 120), packed(ink, 25)];
      const out = new Uint32Array(image.data.buffer);
      for (let i = 0; i < label.length; i++) {
        out[i] = label[i] === AMBIGUOUS
          ? ((i % CELLS.columns) + Math.floor(i / CELLS.columns)) % 6 < 2 ? hatched : open
          : table[label[i] % COLOURS][sure ? sure[i] : 0];
      }
      this.cells.putImageData(image, 0, 0);
    }
  }

  // More points than shapes can be moved: squares on a canvas, in the colour of their class or cluster.
  crowded() {
    const { points, task } = this.app.state, labels = task === "clusters" ? this.frame?.labels : null;
    this.crowd.hidden = points.length <= MANY;
    if (this.crowd.hidden) return;
    const context = this.crowd.getContext("2d"), { classes } = colours();
    context.clearRect(0, 0, W, H);
    points.forEach(([x, y, k], i) => {
      context.fillStyle = `rgb(${classes[task === "classes" ? k : (labels?.[i] ?? 0) % COLOURS].join(",")})`;
      context.fillRect(px(x) - 2.5, py(y) - 2.5, 5, 5);
    });
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

  line(ends, attributes) {
    const [[x1, y1], [x2, y2]] = ends;
    return svg("line", { x1: px(x1), y1: py(y1), x2: px(x2), y2: py(y2), ...attributes });
  }

  planes(frame) {
    const layer = this.layers.over;
    if (frame.planes.length > 1 && !frame.apart) return; // the largest output decides: the regions show it
    frame.planes.forEach((w, k) => {
      const ends = Board.ends(w);
      if (!ends) return;
      const own = frame.apart ? `plane apart s${k % COLOURS}` : "plane";
      layer.append(this.line(ends, { class: own, "data-w": w.join(" ") }));
      if (frame.apart) return;
      const length = Math.hypot(w[1], w[2]);
      const middle = [(ends[0][0] + ends[1][0]) / 2, (ends[0][1] + ends[1][1]) / 2];
      const tip = [middle[0] + (0.7 * w[1]) / length, middle[1] + (0.7 * w[2]) / length];
      layer.append(arrow(middle, tip));
      if (!frame.wrong.length && this.app.state.points.length <= MANY) {
        const distances = this.app.state.points.map(([x, y]) => Math.abs(w[0] + w[1] * x + w[2] * y));
        const least = Math.min(...distances);
        for (const shift of [least, -least]) {
          const edge = Board.ends(w, shift);
          if (edge && least > 0) layer.append(this.line(edge, { class: "margin" }));
        }
      }
    });
  }

  curve(frame) {
    const path = (ys) => ys.map((y, i) => (y === null ? "" : `${i && ys[i - 1] !== null ? "L" : "M"}${px(frame.x[i]).toFixed(1)},${clamp(py(y), -2000, 2660).toFixed(1)}`)).join("");
    const between = (low, high) => {
      const there = high.map((y, i) => `${px(frame.x[i]).toFixed(1)},${clamp(py(y), -2000, 2660).toFixed(1)}`);
      const back = low.map((y, i) => `${px(frame.x[i]).toFixed(1)},${clamp(py(y), -2000, 2660).toFixed(1)}`).reverse();
      return `M${there.join("L")}L${back.join("L")}z`;
    };
    const known = (one) => one && !one.includes(null);
    if (known(frame.lower)) this.layers.band.append(svg("path", { class: "band", d: between(frame.lower, frame.upper) }));
    if (frame.inner && known(frame.inner[0])) this.layers.band.append(svg("path", { class: "band", d: between(...frame.inner) }));
    const { points } = this.app.state;
    if (points.length <= MANY) {
      const strokes = points.map(([x, y], i) => (frame.predicted[i] == null ? "" : `M${px(x).toFixed(1)},${py(y).toFixed(1)}V${clamp(py(frame.predicted[i]), -2000, 2660).toFixed(1)}`));
      this.layers.residuals.append(svg("path", { class: "residual", d: strokes.join("") }));
    }
    this.layers.over.append(svg("path", { class: "fitted", d: path(frame.curve) }));
  }

  centres(frame) {
    frame.centres.forEach(([x, y], k) => {
      if (frame.axes) {
        const [a, b, turn] = frame.axes[k];
        for (const times of [1, 2]) {
          this.layers.over.append(svg("ellipse", { class: `ellipse s${k % COLOURS}`, rx: times * a * UNIT, ry: times * b * UNIT, transform: `translate(${px(x)},${py(y)}) rotate(${-turn})` }));
        }
      }
      this.layers.over.append(svg("path", { class: "centre", d: shape(4, 14), transform: `translate(${px(x)},${py(y)}) rotate(45)` }));
    });
  }
}

export function arrow(from, to, kind = "normal") {
  const [x1, y1, x2, y2] = [px(from[0]), py(from[1]), px(to[0]), py(to[1])];
  const turn = Math.atan2(y2 - y1, x2 - x1);
  const wing = (side) => `${x2 - 16 * Math.cos(turn + side)},${y2 - 16 * Math.sin(turn + side)}`;
  return svg("path", { class: kind, d: `M${x1},${y1}L${x2},${y2}M${wing(0.5)}L${x2},${y2}L${wing(-0.5)}` });
}

export function classMark(k) {
  const mark = svg("svg", { viewBox: "-14 -14 28 28", "aria-hidden": "true" });
  mark.append(svg("path", { class: `c${k}`, d: shape(k) }));
  return mark;
}
