// Charts beside the board: lines over a number, the error over two weights, histograms.
import { el, hasText, Layer, show, svg, t } from "./dom.js";

const W = 400, H = 240, LEFT = 54, RIGHT = 12, TOP = 12, BOTTOM = 38;
const DASHES = ["", "7 4", "2 4", "10 3 2 3", "1 3", "14 4"];
const STROKES = ["s0", "s1", "s2", "s3", "s4", "s5"];
const name = ({ name: key, value }) => (hasText(`line ${key}`) ? t(`line ${key}`, { value }) : key);

function scale(low, high, from, to, log) {
  const f = log ? Math.log10 : (x) => x;
  const a = f(low), b = f(high) === a ? a + 1 : f(high);
  return (x) => from + ((f(x) - a) / (b - a)) * (to - from);
}

function ticks(low, high, log, most = 5) {
  if (log) {
    const first = Math.ceil(Math.log10(low) - 1e-9), last = Math.floor(Math.log10(high) + 1e-9);
    const by = Math.max(1, Math.ceil((last - first) / most));
    const out = [];
    for (let k = first; k <= last; k += by) out.push(10 ** k);
    if (out.length > 2) return out;
    const between = [];
    for (let k = first - 1; k <= last; k++) for (const m of [1, 2, 5]) between.push(m * 10 ** k);
    const inside = between.filter((x) => x >= low * (1 - 1e-9) && x <= high * (1 + 1e-9));
    return inside.length > 1 ? inside : [low, high];
  }
  const raw = (high - low) / most || 1, power = 10 ** Math.floor(Math.log10(raw));
  const by = [1, 2, 5, 10].map((m) => m * power).find((one) => one >= raw);
  const out = [];
  for (let x = Math.ceil(low / by) * by; x <= high + 1e-9 * by; x += by) out.push(Math.abs(x) < 1e-12 ? 0 : x);
  return out;
}

function frame(title) {
  const picture = svg("svg", { viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label": title });
  picture.append(svg("path", { class: "frame-line", fill: "none", d: `M${LEFT},${TOP}V${H - BOTTOM}H${W - RIGHT}` }));
  return picture;
}

function axes(picture, sx, sy, xs, ys, labels) {
  for (const x of xs) {
    picture.append(svg("line", { class: "frame-line", x1: sx(x), x2: sx(x), y1: H - BOTTOM, y2: H - BOTTOM + 4 }));
    picture.append(svg("text", { x: sx(x), y: H - BOTTOM + 17, "text-anchor": "middle" }, show(x, 3)));
  }
  for (const y of ys) {
    picture.append(svg("line", { class: "frame-line", x1: LEFT - 4, x2: LEFT, y1: sy(y), y2: sy(y) }));
    picture.append(svg("text", { x: LEFT - 7, y: sy(y) + 4, "text-anchor": "end" }, show(y, 3)));
  }
  if (labels.x) picture.append(svg("text", { x: (LEFT + W - RIGHT) / 2, y: H - 4, "text-anchor": "middle" }, labels.x));
}

// A chart of lines: {x, lines: [{name, y, x?}], log, mark, reverse}; it returns a function that marks a moment on it.
export function lineChart(box, chart, labels) {
  const points = chart.lines.flatMap((line) => line.y.map((y, i) => [(line.x ?? chart.x)[i], y])).filter(([, y]) => y != null);
  box.replaceChildren(el("h3", {}, labels.title));
  if (!points.length) { box.append(el("p", { class: "small" }, t("no-numbers"))); return () => {}; }
  const logX = chart.log.includes("x"), logY = chart.log.includes("y");
  const usable = points.filter(([x, y]) => (!logX || x > 0) && (!logY || y > 0));
  const xs = usable.map(([x]) => x), ys = usable.map(([, y]) => y);
  let [x0, x1] = [Math.min(...xs), Math.max(...xs)], [y0, y1] = [Math.min(...ys), Math.max(...ys)];
  if (!logY) { if (y0 < 0.4 * y1) y0 = Math.min(0, y0); if (y1 === y0) { y0 = Math.min(0, y0); y1 = y1 > 0 ? 2 * y1 : y0 + 1; } y1 += 0.05 * (y1 - y0); }
  else if (y0 === y1) { y0 /= 2; y1 *= 2; }
  const [a, b] = chart.reverse ? [W - RIGHT, LEFT] : [LEFT, W - RIGHT];
  const sx = scale(x0, x1, a, b, logX), sy = scale(y0, y1, H - BOTTOM, TOP, logY);
  const told = chart.lines.map((line) => {
    const known = line.y.filter((y) => y != null);
    return known.length ? t("line-told", { name: name(line), first: show(known[0], 3), last: show(known.at(-1), 3) }) : name(line);
  });
  const picture = frame([labels.title, labels.x, ...told].join("; "));
  axes(picture, sx, sy, ticks(x0, x1, logX), ticks(y0, y1, logY), labels);
  const legend = el("ul", { class: "legend" });
  chart.lines.forEach((line, k) => {
    const at = line.x ?? chart.x;
    let pen = false;
    const d = line.y.map((y, i) => {
      if (y == null || (logY && y <= 0) || (logX && at[i] <= 0)) { pen = false; return ""; }
      const step = `${pen ? "L" : "M"}${sx(at[i]).toFixed(1)},${sy(y).toFixed(1)}`;
      pen = true;
      return step;
    }).join("");
    const look = { class: `trace ${STROKES[k % 6]}`, "stroke-dasharray": DASHES[k % 6] || null, "data-name": line.name };
    picture.append(svg("path", { ...look, d }));
    const dots = line.y.length <= 24 ? line.y.map((y, i) => [at[i], y]).filter(([, y]) => y != null && !(logY && y <= 0)) : [];
    for (const [x, y] of dots) picture.append(svg("circle", { class: `c${k % 5}`, cx: sx(x), cy: sy(y), r: 2.6 }));
    const swatch = svg("svg", { viewBox: "0 0 26 10", "aria-hidden": "true" }, svg("line", { ...look, x1: 0, x2: 26, y1: 5, y2: 5 }));
    legend.append(el("li", {}, swatch, ` ${name(line)}`));
  });
  const upright = (x) => (x != null && x >= x0 && x <= x1 ? { class: "here", x1: sx(x), x2: sx(x), y1: TOP, y2: H - BOTTOM } : null);
  if (upright(chart.mark)) picture.append(svg("line", upright(chart.mark)));
  const now = new Layer("here");
  picture.append(now.group);
  box.append(picture, legend);
  return (x) => {
    now.begin();
    if (upright(x)) now.put("line", upright(x));
    now.end();
  };
}

// The error over two weights: contours each twice as high above the least as the one inside. It returns a function that
// draws the paths of the weights up to a moment.
export function surfaceChart(box, surface, paths, labels) {
  const [cx, cy] = surface.centre, [[a, b], [, d]] = surface.curvature;
  const first = paths[0]?.[0] ?? [0, 0];
  const reach = 1.35 * Math.max(Math.abs(first[0] - cx), Math.abs(first[1] - cy), 0.5);
  const side = Math.min(W - LEFT - RIGHT, H - TOP - BOTTOM) / 2;
  const unit = side / reach, mx = (LEFT + W - RIGHT) / 2, my = (TOP + H - BOTTOM) / 2;
  const wide = (W - LEFT - RIGHT) / 2 / unit;
  const sx = (x) => mx + (x - cx) * unit, sy = (y) => my - (y - cy) * unit;
  const picture = frame(labels.title);
  const id = "inside-surface";
  picture.append(svg("clipPath", { id }, svg("rect", { x: LEFT, y: TOP, width: W - LEFT - RIGHT, height: H - TOP - BOTTOM })));
  const inside = svg("g", { "clip-path": `url(#${id})` });
  const mean = (a + d) / 2, gap = Math.hypot((a - d) / 2, b);
  const [big, small] = [mean + gap, Math.max(mean - gap, 1e-9 * mean)];
  const turn = (0.5 * Math.atan2(2 * b, a - d) * 180) / Math.PI;
  const most = big * reach * reach * 2;
  for (let k = 0; k < 12; k++) {
    const level = most / 2 ** k;
    inside.append(svg("ellipse", { class: "contour", cx: 0, cy: 0, rx: Math.sqrt(level / big) * unit, ry: Math.sqrt(level / small) * unit, transform: `translate(${sx(cx)},${sy(cy)}) rotate(${-turn})` }));
  }
  inside.append(svg("path", { class: "target", d: `M${sx(cx) - 6},${sy(cy)}h12M${sx(cx)},${sy(cy) - 6}v12` }));
  const walked = new Layer("paths");
  inside.append(walked.group);
  picture.append(inside);
  axes(picture, sx, sy, ticks(cx - wide, cx + wide, false), ticks(cy - reach, cy + reach, false), labels);
  picture.append(svg("text", { x: 4, y: 10 }, labels.y));
  box.replaceChildren(el("h3", {}, labels.title), picture);
  const far = (v) => Math.max(-5000, Math.min(5000, v));
  const told = (weights) => weights.map((w) => show(w, 3)).join(", ");
  return (moment) => {
    walked.begin();
    paths.forEach((path, k) => {
      const shown = path.slice(0, moment + 1), last = shown.at(-1);
      const dashes = DASHES[k] ? { "stroke-dasharray": DASHES[k] } : {};
      walked.put("path", { class: "path", ...dashes, d: shown.map(([x, y], i) => `${i ? "L" : "M"}${far(sx(x)).toFixed(1)},${far(sy(y)).toFixed(1)}`).join("") });
      if (shown.length <= 60) for (const [x, y] of shown) walked.put("circle", { class: "path-point", cx: far(sx(x)), cy: far(sy(y)), r: 2.5 });
      if (last) walked.put("circle", { class: "path-point", id: "weights-now", cx: far(sx(last[0])), cy: far(sy(last[1])), r: 5, "data-w": last.join(" ") });
    });
    walked.end();
    const now = paths[0]?.[Math.min(moment, paths[0].length - 1)];
    if (now) picture.setAttribute("aria-label", t("surface-told", { title: labels.title, now: told(now), best: told([cx, cy]) }));
  };
}

// Histograms of two classes along a direction, one above the axis and one below.
export function histogram(box, { edges, counts, classes }) {
  const height = 110, middle = height / 2, most = Math.max(1, ...counts.flat());
  const picture = svg("svg", { viewBox: `0 0 ${W} ${height}`, role: "img", "aria-label": t("histograms") });
  const sx = scale(edges[0], edges.at(-1), LEFT, W - RIGHT, false);
  counts.forEach((row, k) => row.forEach((count, i) => {
    const h = (count / most) * (middle - 4);
    if (count) picture.append(svg("rect", { class: `c${classes[k]}`, x: sx(edges[i]) + 0.5, width: Math.max(1, sx(edges[i + 1]) - sx(edges[i]) - 1), y: k ? middle : middle - h, height: h }));
  }));
  picture.append(svg("line", { class: "frame-line", x1: LEFT, x2: W - RIGHT, y1: middle, y2: middle }));
  box.append(picture);
}
