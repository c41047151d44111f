// The guide: a scene's text beside the board, its controls, things to try, and a question that is checked.
import { $, el, redraw, show, t } from "./dom.js";
import { formula } from "./formula.js";

export class Guide {
  constructor(app) {
    this.app = app;
    this.box = $("guide");
    this.scene = null;
    this.done = new Set();
  }

  // What holds at a step: all that it and the steps before it have set.
  settings(scene, index) {
    const out = {};
    for (const step of scene.steps.slice(0, index + 1)) {
      for (const name of ["recipe", "points", "task", "model", "rival", "instrument", "start", "controls", "show", "moment"]) {
        if (name in step) out[name] = step[name];
      }
      if ("recipe" in step) delete out.points;
      if ("points" in step) delete out.recipe;
    }
    return structuredClone(out);
  }

  // Open a step; what hands did on the board stays where the step sets nothing else, unless it is set `anew`. False where
  // another step was opened, or the guide closed, before its board was there.
  async open(scene, index, anew = false) {
    const opened = this.opened = {};
    const another = this.scene !== scene;
    this.scene = scene;
    this.index = index;
    this.asked = false;
    const before = another || anew ? null : this.applied;
    const settings = this.settings(scene, index);
    this.applied = JSON.stringify(settings);
    this.controls = settings.controls ?? [];
    if (before !== this.applied) await this.app.apply(settings);
    if (this.opened !== opened) return false;
    this.draw();
    return true;
  }

  close() {
    this.opened = this.scene = null;
    this.box.hidden = true;
  }

  draw() {
    const { scene, index } = this, step = scene.steps[index];
    const walk = el("div", { class: "walk" },
      el("button", { type: "button", id: "step-back", disabled: index === 0, onclick: () => this.app.goto(scene.id, index - 1) }, t("previous")),
      el("span", { class: "small" }, t("step-of", { step: index + 1, steps: scene.steps.length })),
      index + 1 < scene.steps.length
        ? el("button", { type: "button", id: "step-next", class: "main", onclick: () => this.app.goto(scene.id, index + 1) }, t("next"))
        : el("button", { type: "button", id: "step-next", class: "main", onclick: () => this.app.gotoNext() }, t("next-scene")));
    const worked = this.box.contains(document.activeElement);
    this.box.hidden = false;
    redraw(this.box,
      el("p", { class: "where" }, `${t(`lecture ${scene.lecture}`)} · ${scene.chapter}`),
      el("h2", {}, scene.title),
      ...step.say.split("\n").map((one) => el("p", {}, one)),
      this.formulas(),
      ...(step.try ? [el("p", { class: "try" }, step.try)] : []),
      this.sliders(),
      ...(step.question ? [this.question(step)] : []),
      walk);
    if (worked && !this.box.contains(document.activeElement)) $("step-next").focus({ preventScroll: true });
  }

  // The formulas of a step: its own, or those of the last step before it that has some.
  formulas() {
    const { formula: given } = this.scene.steps.slice(0, this.index + 1).findLast((one) => one.formula);
    const line = ({ tex, number }) => el("div", { class: "formula" }, formula(tex), number ? el("span", { class: "small" }, `(${number})`) : null);
    return el("div", { class: "formulas" }, ...given.map(line));
  }

  sliders() {
    const box = el("div", { class: "controls" });
    this.follow = [];
    for (const one of this.controls) box.append(one.options ? this.choice(one) : this.slider(one));
    return box;
  }

  slider(one) {
    const log = one.scale === "log", f = log ? Math.log10 : (x) => x, g = log ? (x) => 10 ** x : (x) => x;
    const value = this.app.read(one.target) ?? one.default;
    const shown = el("output", {}, show(value, 3));
    const input = el("input", { type: "range", min: f(one.min), max: f(one.max), step: one.step ?? (f(one.max) - f(one.min)) / 200, value: f(value), "data-control": one.target, "data-field": one.target });
    input.addEventListener("input", () => {
      const now = Number(g(Number(input.value)).toPrecision(3));
      shown.textContent = show(now, 3);
      this.app.write(one.target, one.whole ? Math.round(now) : now);
    });
    this.follow.push(() => {
      const now = this.app.read(one.target) ?? one.default;
      input.value = f(now);
      shown.textContent = show(now, 3);
    });
    return el("label", { class: "control" }, el("span", {}, t(`control ${one.label}`)), shown, input);
  }

  // Show what the settings are where they were changed elsewhere, as by turning a direction on the board.
  sync() {
    for (const one of this.follow ?? []) one();
  }

  choice(one) {
    const group = el("span", { class: "group", role: "group", "aria-label": t(`control ${one.label}`) });
    const current = this.app.read(one.target);
    one.options.forEach((option) => {
      const label = option.label ? t(`control ${option.label}`) : String(option.value);
      const pressed = JSON.stringify(option.value) === JSON.stringify(current ?? one.default);
      group.append(el("button", { type: "button", "aria-pressed": String(pressed), "data-control": one.target, "data-field": `${one.target} ${label}`, onclick: async () => {
        await this.app.write(one.target, option.value);
        this.draw();
      } }, label));
    });
    return el("div", { class: "control" }, el("span", {}, t(`control ${one.label}`)), group);
  }

  question(step) {
    const { question } = step;
    const verdict = el("p", { role: "status", class: "answer" });
    const tell = (right) => {
      verdict.className = `answer ${right ? "good" : "bad"}`;
      verdict.textContent = right ? `✓ ${step.right ?? t("right")}` : `✗ ${step.wrong ?? t("wrong")}`;
      if (right) this.done.add(`${this.scene.id}/${this.index}`);
    };
    const box = el("fieldset", { id: "question" }, el("legend", {}, question.kind === "task" ? t("task") : t("question")), el("p", {}, step.ask));
    if (question.kind === "choice") {
      step.options.forEach((option, i) => {
        const input = el("input", { type: "radio", name: "option", value: i, onchange: () => tell(i === question.answer) });
        box.append(el("label", { class: "option" }, input, el("span", {}, option)));
      });
    } else if (question.kind === "number") {
      const input = el("input", { type: "number", step: "any", id: "number-answer", "aria-label": t("your-answer") });
      const check = () => {
        const wanted = question.value ?? this.app.fact(question.of, question.fact), given = Number(input.value);
        tell(wanted != null && input.value !== "" && Math.abs(given - wanted) <= (question.within ?? 0) * Math.max(1, Math.abs(wanted)));
      };
      box.append(el("span", { class: "pair" }, input, " ", el("button", { type: "button", onclick: check }, t("check"))));
    } else {
      this.task = () => {
        const value = this.app.fact(question.of, question.fact);
        const met = value != null && ("is" in question ? value === question.is : "above" in question ? value > question.above : value < question.below);
        if (met) tell(true);
        else { verdict.className = "answer small"; verdict.textContent = t("not-yet"); }
      };
      queueMicrotask(() => this.task?.());
    }
    if (question.kind !== "task") this.task = null;
    box.append(verdict);
    return box;
  }

  // Called when facts have changed.
  changed() {
    if (this.scene && this.scene.steps[this.index].question?.kind === "task") this.task?.();
  }
}
