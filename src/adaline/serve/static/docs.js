"use strict";
// The OpenAPI description as a page: every request, what it takes and answers, and a form that sends it.
const $ = (id) => document.getElementById(id);
const CSV = "text/csv";
const LONGEST = 20000; // characters of an answer that are shown
let api = null;
let token = "";
let models = []; // names
const described = new Map(); // models by name, for examples

function element(tag, attributes = {}, ...children) {
  const out = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name in out && typeof value !== "string") out[name] = value;
    else out.setAttribute(name, value);
  }
  out.append(...children);
  return out;
}

const authorized = () => (token ? { Authorization: `Bearer ${token}` } : {});
const named = (schema) => (schema && schema.$ref ? schema.$ref.split("/").pop() : null);
const isBinary = (schema) => schema.format === "binary";

async function read(path) {
  const answer = await fetch(path, { headers: authorized() });
  const body = await answer.json();
  if (!answer.ok) throw new Error(body.detail);
  return body;
}

// -- examples --------------------------------------------------------------------------------------------------------

const short = (value) => Number(value.toPrecision(4));

function exampleValue(column) {
  if (column.levels.length) return column.levels[0];
  if (column.kind === "boolean") return false;
  if (column.kind === "date") return "2026-01-31";
  return column.kind === "number" ? short(column.mean ?? 0) : "";
}

// A row of the model: each column at its mean or first level, and for learning the target.
function exampleRow(about, learning) {
  const row = Object.fromEntries(about.columns.map((one) => [one.name, exampleValue(one)]));
  if (learning) for (const name of about.target) row[name] = about.classes ? about.classes[0] : 0;
  return row;
}

const cell = (value) => (/[",\n]/.test(String(value)) ? `"${String(value).replaceAll('"', '""')}"` : String(value));

// The body of a request: a row of the model where the path takes rows, else the fields of its schema.
async function exampleBody(path, schema, kind, model) {
  if (!/\/(predict|learn)$/.test(path)) {
    const fields = Object.entries(api.components.schemas[named(schema)].properties);
    return JSON.stringify(Object.fromEntries(fields.map(([field, one]) => [field, one.type === "integer" ? 0 : ""])), null, 2);
  }
  if (!described.has(model)) described.set(model, await read(`/models/${encodeURIComponent(model)}`));
  const row = exampleRow(described.get(model), path.endsWith("/learn"));
  if (kind === CSV) return `${Object.keys(row).map(cell).join(",")}\n${Object.values(row).map(cell).join(",")}\n`;
  const more = path.endsWith("/predict") && described.get(model).probabilities ? { probabilities: true } : {};
  return JSON.stringify({ rows: [row], ...more }, null, 2);
}

// -- a form for a request --------------------------------------------------------------------------------------------

const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

function asCurl(method, url, kind, body, file) {
  const words = ["curl", ...(method === "GET" ? [] : ["-X", method]), quoted(location.origin + url)];
  if (token) words.push("-H", quoted("Authorization: Bearer TOKEN"));
  if (kind) words.push("-H", quoted(`Content-Type: ${kind}`), "--data-binary", file ? quoted(`@${file}`) : quoted(body));
  return words.join(" ");
}

function field(option) {
  const { schema } = option;
  const values = option.name === "name" ? models : schema.enum;
  if (!values || !values.length) return element("input", { name: option.name, required: option.required });
  const select = element("select", { name: option.name });
  for (const value of option.required ? values : ["", ...values]) select.append(element("option", { value }, value));
  return select;
}

async function answerText(answer) {
  const kind = (answer.headers.get("content-type") ?? "").split(";")[0];
  if (kind.startsWith("text/") || kind.endsWith("json")) {
    const text = await answer.text();
    const shown = kind.endsWith("json") && text.length < LONGEST ? JSON.stringify(JSON.parse(text), null, 2) : text;
    return shown.length > LONGEST ? `${shown.slice(0, LONGEST)} …` : shown;
  }
  return `${(await answer.blob()).size.toLocaleString("en")} bytes of ${kind}`;
}

function tryForm(path, method, one) {
  const options = (one.parameters ?? []).map((each) => (each.$ref ? api.components.parameters[each.$ref.split("/").pop()] : each));
  const form = element("form", { autocomplete: "off", class: "request" }), fields = element("div", { class: "fields" });
  for (const option of options) fields.append(element("label", {}, element("span", {}, option.name), field(option)));
  const content = one.requestBody?.content, kinds = Object.keys(content ?? {});
  const kind = element("select", { "aria-label": "Content-Type" }, ...kinds.map((each) => element("option", { value: each }, each)));
  const text = element("textarea", { rows: 10, spellcheck: false, "aria-label": "Body of the request" });
  const file = element("input", { type: "file", "aria-label": "File with the body of the request" });
  const given = (name) => form.querySelector(`[name="${name}"]`)?.value ?? "";
  const fill = async () => {
    if (!content) return;
    const { schema } = content[kind.value];
    text.hidden = isBinary(schema);
    file.hidden = !text.hidden;
    if (text.hidden) return;
    try {
      text.value = await exampleBody(path, schema, kind.value, given("name"));
    } catch {
      text.value = ""; // without a token, or without a model
    }
  };
  if (content) {
    if (kinds.length > 1) fields.append(element("label", {}, element("span", {}, "Content-Type"), kind));
    form.append(fields, text, file);
    kind.onchange = fill;
    form.querySelector('[name="name"]')?.addEventListener("change", fill);
  } else form.append(fields);
  const status = element("span", { class: "faint", role: "status" });
  const curl = element("pre", { hidden: true }), result = element("pre", { hidden: true, class: "result" });
  form.append(element("div", { class: "actions" }, element("button", {}, "Send"), status), curl, result);
  form.onsubmit = async (event) => {
    event.preventDefault();
    const query = new URLSearchParams(options.filter((each) => each.in === "query" && given(each.name)).map((each) => [each.name, given(each.name)]));
    const url = path.replace("{name}", encodeURIComponent(given("name"))) + (query.size ? `?${query}` : "");
    const body = content && (text.hidden ? file.files[0] : text.value);
    const headers = { ...authorized(), ...(content ? { "Content-Type": kind.value } : {}) };
    const began = performance.now();
    curl.hidden = result.hidden = false;
    curl.textContent = asCurl(method.toUpperCase(), url, content && kind.value, text.value, text.hidden && (file.files[0]?.name ?? "FILE"));
    try {
      const answer = await fetch(url, { method: method.toUpperCase(), headers, body });
      status.textContent = `${answer.status} ${answer.statusText} · ${(performance.now() - began).toFixed(1)} ms`;
      result.classList.toggle("bad", !answer.ok);
      result.textContent = await answerText(answer);
    } catch (error) {
      status.textContent = "";
      result.classList.add("bad");
      result.textContent = `The service did not answer (${error.message}): check that it is running.`;
    }
  };
  fill();
  return form;
}

// -- the page --------------------------------------------------------------------------------------------------------

function schemaList(title, media) {
  return Object.entries(media).map(([kind, { schema }]) => {
    const name = named(schema);
    const text = JSON.stringify(name ? api.components.schemas[name] : schema, null, 2);
    return element("details", {}, element("summary", {}, `${title}: ${kind}${name ? `, ${name}` : ""}`), element("pre", {}, text));
  });
}

function article(path, method, one) {
  const errors = Object.entries(one.responses).filter(([status]) => status !== "200");
  const query = (one.parameters ?? []).filter((each) => each.in === "query");
  const trial = element("details", { class: "try", "data-request": `${method} ${path}` }, element("summary", {}, "Try it out"));
  trial.addEventListener("toggle", () => {
    if (trial.open && !trial.querySelector("form")) trial.append(tryForm(path, method, one));
  });
  return element("article", {},
    element("h2", {}, element("span", { class: "method" }, method.toUpperCase()), path),
    element("p", {}, `${one.summary}.`),
    trial,
    ...query.map((each) => element("p", { class: "faint" }, element("code", {}, `?${each.name}=`), ` ${each.description}`)),
    ...(one.requestBody ? schemaList("Request", one.requestBody.content) : []),
    ...schemaList("Response", one.responses["200"].content),
    element("details", {}, element("summary", {}, `Errors: ${errors.map(([status]) => status).join(", ")}`),
      ...errors.map(([status, answer]) => element("p", { class: "faint" }, `${status}: ${answer.description}`))));
}

function draw() {
  $("paths").replaceChildren();
  for (const [path, methods] of Object.entries(api.paths)) {
    for (const [method, one] of Object.entries(methods)) $("paths").append(article(path, method, one));
  }
  const first = $("paths").querySelector('[data-request="post /models/{name}/predict"]');
  if (first && models.length) first.open = true;
}

async function start() {
  try {
    api = await read("/openapi.json");
    $("about").textContent = `adaline ${api.info.version}. ${api.info.description}`;
    $("token-form").hidden = !api.components.securitySchemes;
    models = api.components.parameters.Name.schema.enum ?? [];
    draw();
  } catch (error) {
    $("problem").hidden = false;
    $("problem").textContent = `The description of the service cannot be read (${error.message}): reload the page.`;
  }
}

$("token-form").onsubmit = async (event) => {
  event.preventDefault();
  token = $("token").value;
  described.clear();
  try {
    models = (await read("/models")).models;
    $("token-state").textContent = "The token is accepted.";
    draw();
  } catch (error) {
    $("token-state").textContent = `The token is refused: ${error.message}.`;
  }
};
start();
