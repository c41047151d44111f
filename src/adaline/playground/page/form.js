// The form of a system: fields as its parameters' checks allow, with a basis and, for schemes, the machine inside.
import { el, hasText, redraw, t } from "./dom.js";

const text = (value) => (value === null ? t("none") : value === true ? t("yes") : value === false ? t("no") : String(value));

// One field; `change(value)` is called with undefined for the default.
function field(one, value, change) {
  const given = value !== undefined;
  const current = given ? value : one.default;
  const unit = one.number && hasText(`unit-of ${one.name}`) ? el("span", { class: "unit" }, t(`unit-of ${one.name}`)) : null;
  const box = el("label", { class: "field", title: one.help }, el("span", {}, one.name, unit ? ", " : null, unit));
  const number = () => {
    const input = el("input", {
      type: "number", step: one.whole ? 1 : "any", value: typeof current === "number" ? current : "",
      min: one.least ?? (one.above ?? null), max: one.most ?? one.below ?? null, "data-field": one.name,
    });
    input.addEventListener("change", () => {
      if (input.value === "") return change(undefined);
      const entered = Number(input.value);
      const bad = Number.isNaN(entered) || (one.whole && !Number.isInteger(entered)) || (one.least != null && entered < one.least)
        || (one.above != null && entered <= one.above) || (one.most != null && entered > one.most) || (one.below != null && entered >= one.below);
      input.setCustomValidity(bad ? t("must-be", { name: one.name, wanted: one.wanted }) : "");
      if (bad) input.reportValidity();
      else change(entered);
    });
    return input;
  };
  if (!one.words.length) box.append(number());
  else {
    const select = el("select", { "data-field": one.name });
    one.words.forEach((word, i) => select.append(el("option", { value: i, selected: word === current }, text(word))));
    if (one.number) select.append(el("option", { value: "number", selected: typeof current === "number" }, t("a-number")));
    const pair = el("span", { class: "pair" }, select);
    const entry = one.number ? number() : null;
    if (entry) { entry.hidden = typeof current !== "number"; pair.append(entry); }
    select.addEventListener("change", () => {
      if (select.value === "number") { entry.hidden = false; entry.focus(); return; }
      if (entry) entry.hidden = true;
      const word = one.words[Number(select.value)];
      change(word === one.default ? undefined : word);
    });
    box.append(pair);
  }
  if (one.number) box.append(el("span", { class: "wanted" }, limits(one)));
  if (one.help) box.append(el("span", { class: "wanted explained" }, one.help));
  return box;
}

function limits(one) {
  const most = one.most ?? one.below;
  const least = one.least ?? one.above;
  if (least != null && most != null) return t("from-to", { least, most });
  if (one.above != null) return t("above", { above: one.above });
  if (least != null) return t("at-least", { least });
  return one.whole ? t("whole-number") : t("number");
}

const cleaned = (settings, name, value) => {
  const out = { ...settings };
  if (value === undefined) delete out[name];
  else out[name] = value;
  return out;
};

// Draw the form of `model` into `box`; `change(model)` is called with the new one, null for none.
export async function drawForm(box, model, task, app, change, optional = false) {
  const names = app.systems[task];
  const picker = el("select", { "data-field": "system", "aria-label": t("system") });
  if (optional) picker.append(el("option", { value: "", selected: !model }, t("no-rival")));
  for (const name of names) picker.append(el("option", { value: name, selected: model?.system === name }, name));
  picker.addEventListener("change", () => change(picker.value ? { system: picker.value, settings: {} } : null));
  if (!model) return redraw(box, el("p", {}, picker));
  const form = await app.form(model.system);
  if (form.type !== "form") return;
  const says = el("p", { class: "help" }, form.says);
  const fields = el("div", { class: "fields" });
  if (form.inner.length) {
    const inner = el("select", { "data-field": "inner" });
    for (const name of ["", ...form.inner]) inner.append(el("option", { value: name, selected: (model.inner ?? "") === name }, name || t("default")));
    inner.addEventListener("change", () => change({ ...model, inner: inner.value || null }));
    fields.append(el("label", { class: "field" }, el("span", {}, t("machine")), inner));
  }
  const main = form.fields.filter((one) => ["rate", "penalty", "l1", "loss", "mode", "solver", "covariance", "n_clusters", "n_components", "epochs", "schedule", "shuffle", "coding", "activation", "machines", "init", "init_params", "covariance_type"].includes(one.name));
  const rest = form.fields.filter((one) => !main.includes(one));
  const make = (one) => field(one, model.settings?.[one.name], (value) => change({ ...model, settings: cleaned(model.settings, one.name, value) }));
  fields.append(...main.map(make));
  if (Object.keys(form.bases).length) {
    const basis = el("select", { "data-field": "basis" });
    for (const name of ["", ...Object.keys(form.bases)]) basis.append(el("option", { value: name, selected: (model.basis ?? "") === name }, name || t("no-basis")));
    basis.addEventListener("change", () => change({ ...model, basis: basis.value || null, basis_settings: {} }));
    fields.append(el("label", { class: "field" }, el("span", {}, t("basis")), basis));
    if (model.basis) {
      for (const one of form.bases[model.basis] ?? []) {
        fields.append(field(one, model.basis_settings?.[one.name], (value) => change({ ...model, basis_settings: cleaned(model.basis_settings, one.name, value) })));
      }
    }
  }
  const more = el("details", { class: "inner" }, el("summary", {}, t("more")), el("div", { class: "fields" }, ...rest.map(make)));
  redraw(box, el("p", {}, picker), says, fields, ...(rest.length ? [more] : []));
}
