// Small helpers to build the page: text is always set as text, never as markup.
const SVG = "http://www.w3.org/2000/svg";
let texts = {};

export async function loadTexts() {
  texts = await (await fetch("/page/texts.json")).json();
  document.documentElement.lang = texts.language;
  for (const one of document.querySelectorAll("[data-text]")) one.textContent = t(one.dataset.text);
  for (const one of document.querySelectorAll("[data-label]")) {
    one.setAttribute("aria-label", t(one.dataset.label));
    if (one.tagName === "BUTTON") one.title = t(one.dataset.label);
  }
  document.body.dataset.texts = "true";
}

// A text of the page by its key, with {name} replaced; a key without a text stands for itself.
export function t(key, values = {}) {
  const text = texts.page?.[key] ?? key;
  return text.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole));
}

export const hasText = (key) => key in (texts.page ?? {});

export function el(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name === "class") made.className = value;
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value != null) made.setAttribute(name, value);
  }
  made.append(...children.filter((one) => one != null));
  return made;
}

export function svg(tag, attributes = {}, ...children) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) if (value != null) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

export function show(value, digits = 4) {
  if (value == null) return "–";
  if (typeof value !== "number") return String(value);
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e5 || size < 1e-4) return Number(value.toPrecision(3)).toExponential().replaceAll("-", "−").replace("e+", "e");
  return String(Number(value.toPrecision(digits))).replace("-", "−");
}

// Put children in the place of those of a box; what was opened stays open, and the field that was worked stays so.
export function redraw(box, ...children) {
  const worked = box.contains(document.activeElement) ? document.activeElement.dataset.field ?? document.activeElement.id : null;
  const opened = [...box.querySelectorAll("details")].map((one) => one.open);
  box.replaceChildren(...children);
  box.querySelectorAll("details").forEach((one, i) => { one.open = opened[i] ?? false; });
  if (worked) [...box.querySelectorAll("[data-field], [id]")].find((one) => (one.dataset.field ?? one.id) === worked)?.focus({ preventScroll: true });
}

export const $ = (id) => document.getElementById(id);

export function bytes(text) {
  const raw = atob(text);
  const out = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) out[i] = raw.charCodeAt(i);
  return out;
}

export const COLOURS = 5;

// The mark of a class: a shape beside its colour, so that neither alone has to tell.
export function shape(k, r = 11) {
  switch (k % COLOURS) {
    case 0: return `M${-r},0a${r},${r} 0 1,0 ${2 * r},0a${r},${r} 0 1,0 ${-2 * r},0z`;
    case 1: { const a = 0.9 * r; return `M${-a},${-a}H${a}V${a}H${-a}z`; }
    case 2: { const a = 1.15 * r; return `M0,${-a}L${a},${0.8 * a}H${-a}z`; }
    case 3: { const a = 1.25 * r; return `M0,${-a}L${a},0L0,${a}L${-a},0z`; }
    default: { const a = 1.1 * r, b = 0.38 * r; return `M${-b},${-a}H${b}V${-b}H${a}V${b}H${b}V${a}H${-b}V${b}H${-a}V${-b}H${-b}z`; }
  }
}
