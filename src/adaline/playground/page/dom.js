// Small helpers to build the page: text is always set as text, never as markup.
const SVG = "http://www.w3.org/2000/svg";
let texts = {};

// The JSON of an address of the server; where it does not answer, it is asked again every second.
export async function load(address) {
  for (;;) {
    try { return await (await fetch(address)).json(); }
    catch { await new Promise((again) => { setTimeout(again, 1000); }); }
  }
}

export async function loadTexts() {
  texts = await load("/page/texts.json");
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

// A group of shapes that is drawn again and again: its nodes are used anew, and what stays the same is not touched.
export class Layer {
  constructor(name) {
    this.group = svg("g", { class: `layer-${name}` });
    this.nodes = [];
    this.begin();
  }

  begin() { this.count = 0; }

  put(tag, attributes, text = "") {
    let node = this.nodes[this.count];
    if (node?.tag !== tag) {
      const made = { tag, element: svg(tag), shown: {}, text: "" };
      if (node) node.element.replaceWith(made.element);
      else this.group.append(made.element);
      this.nodes[this.count] = node = made;
    }
    const { element, shown } = node;
    for (const name in shown) if (!(name in attributes)) element.removeAttribute(name);
    for (const name in attributes) if (shown[name] !== attributes[name]) element.setAttribute(name, attributes[name]);
    if (node.text !== text) element.textContent = node.text = text;
    node.shown = attributes;
    this.count++;
  }

  // Take away what was not drawn since the beginning.
  end() { for (const one of this.nodes.splice(this.count)) one.element.remove(); }

  clear() { this.begin(); this.end(); }
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

// The mark of a class at a place: a shape beside its colour, so that neither alone has to tell. The place is in the path,
// as a transform of each point would have the browser paint it by itself.
export function shape(k, r = 11, x = 0, y = 0) {
  const at = `M${x},${y}m`;
  switch (k % COLOURS) {
    case 0: return `${at}${-r},0a${r},${r} 0 1,0 ${2 * r},0a${r},${r} 0 1,0 ${-2 * r},0z`;
    case 1: { const a = 0.9 * r; return `${at}${-a},${-a}h${2 * a}v${2 * a}h${-2 * a}z`; }
    case 2: { const a = 1.15 * r; return `${at}0,${-a}l${a},${1.8 * a}h${-2 * a}z`; }
    case 3: { const a = 1.25 * r; return `${at}0,${-a}l${a},${a}l${-a},${a}l${-a},${-a}z`; }
    default: { const a = 1.1 * r, b = 0.38 * r, c = a - b; return `${at}${-b},${-a}h${2 * b}v${c}h${c}v${2 * b}h${-c}v${c}h${-2 * b}v${-c}h${-c}v${-2 * b}h${c}z`; }
  }
}
