"use strict";
// The page of a service: what a model is, a form made from its columns, and the progressive error as it goes.
const $ = (id) => document.getElementById(id);
const SVG = "http://www.w3.org/2000/svg";
const COMPACT = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 3 }); // 50M
let model = null; // the name of the model shown
let token = "";

const number = (value, digits = 6) =>
  value === null || value === undefined ? "–" : typeof value === "number" ? String(Number(value.toPrecision(digits))) : String(value);
const short = (value) => (Math.abs(value) < 1e5 ? number(value, 3) : Math.abs(value) < 1e15 ? COMPACT.format(value) : value.toExponential(1));
const counted = (value) => (value === null ? "?" : value.toLocaleString("en"));

function element(tag, text, className) {
  const out = document.createElement(tag);
  if (text !== undefined) out.textContent = text;
  if (className) out.className = className;
  return out;
}

async function ask(path, options = {}) {
  const headers = { ...(options.headers || {}), ...(token ? { Authorization: `Bearer ${token}` } : {}) };
  const answer = await fetch(path, { ...options, headers });
  if (answer.status === 401 || (answer.status === 403 && !model)) {
    $("token-form").hidden = false;
    throw new Error(token ? "The token is refused." : "A token is required.");
  }
  const body = await answer.json();
  if (!answer.ok) throw Object.assign(new Error(body.detail), body);
  return body;
}

function complain(error) {
  $("problem").hidden = !error;
  $("problem").textContent = error ? error.message : "";
}

// -- the form ------------------------------------------------------------------------------------------------------

function field(column) {
  const label = element("label");
  const title = element("span", column.name + (column.optional ? " (optional)" : ""));
  title.title = column.name;
  let input;
  if (column.levels.length || column.kind === "boolean") {
    input = element("select");
    const levels = column.levels.length ? column.levels : [false, true];
    for (const level of [...(column.optional ? [""] : []), ...levels]) {
      const option = element("option", String(level));
      option.value = JSON.stringify(level);
      input.append(option);
    }
    input.dataset.kind = "level";
  } else {
    input = element("input");
    input.dataset.kind = column.kind;
    if (column.kind === "number") {
      input.type = "text";
      input.inputMode = "decimal";
      input.value = column.mean === null ? "" : number(column.mean, 4);
    } else if (column.kind === "date") {
      input.type = "date";
    }
  }
  input.name = column.name;
  label.append(title, input);
  return label;
}

function row(example = false) {
  const out = {};
  for (const input of $("fields").querySelectorAll("input, select")) {
    const text = input.value.trim() || (example && input.dataset.kind === "number" ? "0" : "");
    if (input.dataset.kind === "level") {
      const level = JSON.parse(text);
      if (level !== "") out[input.name] = level;
    } else if (text !== "") {
      out[input.name] = input.dataset.kind === "number" && !Number.isNaN(Number(text)) ? Number(text) : text;
    }
  }
  return out;
}

function say(found, began) {
  const box = $("answer");
  box.hidden = false;
  box.className = "";
  box.replaceChildren();
  const value = found.predictions[0];
  box.append(element("strong", Array.isArray(value) ? value.map((one) => number(one)).join(", ") : number(value)));
  if (found.lower) box.append(element("p", `95% of such rows lie between ${number(found.lower[0])} and ${number(found.upper[0])}.`));
  if (found.probabilities) {
    const shares = Object.entries(found.probabilities[0]).sort((a, b) => b[1] - a[1]).slice(0, 12);
    for (const [label, share] of shares) {
      const line = element("div", undefined, "share");
      const meter = element("meter");
      meter.value = share;
      meter.setAttribute("aria-label", `${label}: ${(100 * share).toFixed(1)}%`);
      line.append(element("span", label), meter, element("span", `${(100 * share).toFixed(1)}%`));
      box.append(line);
    }
  }
  $("took").textContent = `${(performance.now() - began).toFixed(1)} ms`;
}

async function predict(about) {
  const began = performance.now();
  for (const input of $("fields").querySelectorAll(".wrong")) input.classList.remove("wrong");
  const rows = [row()];
  const post = (body) =>
    ask(`/models/${model}/predict`, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
  try {
    if (about.intervals) {
      try {
        return say(await post({ rows, interval: "prediction" }), began);
      } catch (error) {
        if (error.column) throw error; // else the model knows no interval
      }
    }
    say(await post({ rows, probabilities: about.probabilities }), began);
  } catch (error) {
    const box = $("answer");
    box.hidden = false;
    box.className = "bad";
    box.textContent = error.message;
    const wrong = [...$("fields").querySelectorAll("input, select")].find((input) => input.name === error.column);
    if (wrong) {
      wrong.classList.add("wrong");
      wrong.focus();
    }
  }
}

// -- the plot ------------------------------------------------------------------------------------------------------

function shape(tag, attributes, text) {
  const out = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) out.setAttribute(name, value);
  if (text !== undefined) out.textContent = text;
  return out;
}

function ticks(low, high, count) {
  const rough = (high - low) / count || Math.abs(high) || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5, 10].find((one) => one * power >= rough) || 10);
  const out = [];
  for (let at = Math.ceil(low / step) * step; at <= high + step * 1e-9; at += step) out.push(Number(at.toPrecision(12)));
  return out;
}

function plot(history) {
  const svg = $("plot");
  const width = Math.max(svg.clientWidth, 280); // a unit is a pixel, so that text keeps its size
  const [left, right, top, bottom] = [56, width - 12, 12, 266];
  svg.setAttribute("viewBox", `0 0 ${width} 300`);
  const xs = history.rows_seen;
  const all = [...history.mean, ...history.recent].filter((value) => value !== null);
  svg.replaceChildren();
  if (xs.length === 0) {
    svg.append(shape("text", { x: width / 2, y: 150, "text-anchor": "middle" }, "No rows have been learned yet."));
    return;
  }
  const [first, last] = [xs[0], xs[xs.length - 1]];
  const sorted = [...all].sort((a, b) => a - b);
  const high = Math.max(sorted[Math.floor(0.98 * (sorted.length - 1))] * 1.1, sorted[0]) || 1;
  const x = (value) => (last === first ? (left + right) / 2 : left + ((value - first) / (last - first)) * (right - left));
  const y = (value) => bottom - (Math.min(value, high) / high) * (bottom - top);
  for (const at of ticks(0, high, 5)) {
    svg.append(shape("line", { x1: left, x2: right, y1: y(at), y2: y(at), class: "grid" }));
    svg.append(shape("text", { x: left - 8, y: y(at) + 4, "text-anchor": "end" }, short(at)));
  }
  for (const at of last === first ? [first] : ticks(first, last, 4)) {
    svg.append(shape("text", { x: Math.min(Math.max(x(at), left + 20), right - 20), y: 286, "text-anchor": "middle" }, at.toLocaleString("en")));
  }
  for (const name of ["recent", "mean"]) {
    const points = xs.map((seen, i) => [seen, history[name][i]]).filter(([, value]) => value !== null);
    const line = points.map(([seen, value]) => `${x(seen).toFixed(1)},${y(value).toFixed(1)}`).join(" ");
    svg.append(points.length > 1 ? shape("polyline", { points: line, class: name }) : shape("circle", { cx: x(first), cy: y(points.length ? points[0][1] : 0), r: 3, fill: "currentColor" }));
  }
}

// -- what it is ----------------------------------------------------------------------------------------------------

function table(target, rows) {
  target.replaceChildren();
  for (const [name, text] of rows) {
    const line = element("tr");
    const head = element("th", name);
    head.scope = "row";
    line.append(head, element("td", text));
    target.append(line);
  }
}

function describe(about) {
  const proof = about.certificate;
  $("title").textContent = about.name;
  document.title = `${about.name} – adaline`;
  const target = about.target.length ? ` of ${about.target.join(", ")}` : "";
  $("facts").textContent = `${about.system}${target} · ${counted(about.rows_seen)} rows seen · ${about.learns ? "learning" : "not learning"}`;
  const rows = [["System", about.system], ["Target", about.target.join(", ") || "–"]];
  const names = about.columns.map((one) => one.name);
  rows.push(["Columns", names.slice(0, 30).join(", ") + (names.length > 30 ? ` and ${names.length - 30} more` : "")]);
  if (about.classes) rows.push(["Classes", about.classes.slice(0, 20).join(", ")]);
  rows.push(["Rows seen", counted(about.rows_seen)]);
  if (proof) {
    rows.push(["Certificate", proof.text]);
    if (proof.advice && proof.advice !== "nothing to do") rows.push(["Advice", proof.advice]);
  }
  if (about.versions.length) rows.push(["Versions", about.versions.join(", ")]);
  table($("about"), rows);
  const error = about.progressive_error;
  $("learning").hidden = !error;
  if (error && error.rows) {
    $("error-text").textContent = `The ${about.classes ? "error rate" : "mean squared error"} of ${counted(error.rows)} rows, each predicted before it was learned: ${short(error.mean)}; recently ${short(error.recent)}.${
      about.classes && error.loss !== null ? ` Their log loss: ${short(error.loss)}; recently ${short(error.recent_loss)}.` : ""
    }`;
  }
  const scores = Object.entries(about.scores || {});
  $("scores").hidden = scores.length < 2;
  if (scores.length > 1) {
    $("scores").replaceChildren();
    for (const cells of [["", "all rows", "recently"], ...scores.map(([name, one]) => [name, short(one.mean), short(one.recent)])]) {
      const line = element("tr");
      for (const cell of cells) line.append(element(cells[0] ? "td" : "th", cell));
      $("scores").append(line);
    }
  }
}

function example() {
  const text = JSON.stringify({ rows: [row(true)] }, null, 1).replace(/\s*\n\s*/g, " ");
  $("curl").textContent = `curl ${location.origin}/models/${model}/predict \\\n  -H 'Content-Type: application/json'${token ? " -H 'Authorization: Bearer TOKEN'" : ""} \\\n  -d '${text.replaceAll("'", "'\\''")}'`;
}

let timer = 0;
async function refresh(first = false) {
  clearTimeout(timer);
  try {
    const about = await ask(`/models/${model}`);
    describe(about);
    if (first) {
      const shown = about.columns.slice(0, 200);
      $("fields").replaceChildren(...shown.map(field));
      $("row-form").onsubmit = (event) => {
        event.preventDefault();
        predict(about);
      };
      $("fields").oninput = example;
      $("answer").hidden = true;
      $("took").textContent = "";
      $("file").onclick = (event) => {
        event.preventDefault();
        download();
      };
      example();
      $("main").hidden = false;
      if (shown.every((one) => one.kind !== "number" || one.levels.length || one.mean !== null)) predict(about);
    }
    if (about.progressive_error) plot(await ask(`/models/${model}/history`));
    complain(null);
    timer = setTimeout(refresh, about.learns ? 1000 : 10000);
  } catch (error) {
    complain(error);
    timer = setTimeout(refresh, 3000);
  }
}

async function download() {
  const answer = await fetch(`/models/${model}/file`, { headers: token ? { Authorization: `Bearer ${token}` } : {} });
  const link = element("a");
  link.href = URL.createObjectURL(await answer.blob());
  link.download = `${model}.adaline`;
  link.click();
  URL.revokeObjectURL(link.href);
}

async function start() {
  try {
    const found = await ask("/models");
    $("token-form").hidden = true;
    $("models").replaceChildren(...found.models.map((name) => element("option", name)));
    $("choose").hidden = found.models.length < 2;
    const wanted = decodeURIComponent(location.hash.slice(1));
    model = found.models.includes(wanted) ? wanted : found.models[0];
    $("models").value = model;
    complain(null);
    await refresh(true);
  } catch (error) {
    complain(error);
  }
}

$("models").onchange = () => {
  model = $("models").value;
  location.hash = model;
  refresh(true);
};
$("token-form").onsubmit = (event) => {
  event.preventDefault();
  token = $("token").value;
  start();
};
start();
