// The playground: its state, what changes it, and what is drawn of it.
import { Board, classMark, px, py, windowMessage } from "./board.js";
import { histogram, lineChart, surfaceChart } from "./charts.js";
import { MOST_ROWS, chosen, parse, pointsOf } from "./csv.js";
import { $, el, load, loadTexts, redraw, show, svg, t } from "./dom.js";
import { drawForm } from "./form.js";
import { Guide } from "./guide.js";
import { Link } from "./link.js";
import * as sound from "./sound.js";

const DEMONSTRATED = ["perceptron", "lms", "kmeans", "irls"]; // scenes that run behind the welcome
const DEMONSTRATION = 6; // seconds that one takes
const REST = 1500; // milliseconds between two
const TOOLS = ["add", "move", "erase", "brush"];
const SPEEDS = [2, 8, 25, 60];
const FIRST = { classes: "Perceptron", numbers: "LinearRegression", clusters: "KMeans" };
const MOST_SHARED = 3000; // points that fit into an address
const MOST_UNDONE = 100;
const LONGEST_NAME = 60; // letters of a class or an axis
const LONGEST_TABLE = 5e6; // bytes of a table that is pasted, dropped or chosen
const LONGEST_FIELD = 2e4; // letters of a table that its field takes: with many lines a field takes minutes
const BEGINNING = 2000; // letters of a longer one that it shows
const short = (name) => String(name).slice(0, LONGEST_NAME);
const calm = matchMedia("(prefers-reduced-motion: reduce)");

class App {
  constructor() {
    this.tool = "add";
    this.klass = 0;
    this.past = [];
    this.future = [];
    this.forms = new Map();
    this.moment = 0;
    this.slots = [{}, {}];
    this.chart = null;
    this.state = { task: "classes", points: [], recipe: null, edited: true, held: null, names: null, model: { system: "Perceptron", settings: {} }, rival: null, instrument: null };
  }

  async start() {
    await loadTexts();
    $("lost").textContent = t("lost", { port: location.port });
    this.link = new Link((open) => {
      $("lost").hidden = open;
      $("connecting").hidden ||= !open; // one of the two is enough
      if (open && this.ready) this.refit(this.moment);
    });
    this.boards = [new Board(0, this), new Board(1, this)];
    $("boards").append(this.boards[0].figure);
    this.guide = new Guide(this);
    this.scenes = await load("/scenes.json");
    const known = await this.link.insist({ type: "systems" });
    this.systems = known.systems;
    this.kinds = known.kinds;
    this.alone = new Set(known.alone); // instruments that do not look at the board
    this.build();
    addEventListener("hashchange", () => { if (location.hash !== this.hash) this.readHash(); });
    await this.readHash();
    this.ready = true;
    document.body.dataset.ready = "true";
    $("connecting").hidden = true;
  }

  // What stands on the page from the start.
  build() {
    for (const name of TOOLS) {
      $("tools").append(el("button", { type: "button", "aria-pressed": String(name === this.tool), "data-tool": name, onclick: () => {
        this.tool = name;
        for (const one of $("tools").children) one.setAttribute("aria-pressed", String(one.dataset.tool === name));
      } }, t(`tool ${name}`)));
    }
    for (let k = 0; k < 5; k++) {
      $("classes").append(el("button", { type: "button", "aria-pressed": String(k === 0), onclick: () => this.choose(k) }, classMark(k), el("span")));
    }
    SPEEDS.forEach((speed) => $("speed").append(el("option", { value: speed, selected: speed === (calm.matches ? 2 : 8) }, t("per-second", { speed }))));
    const groups = new Map();
    for (const scene of this.scenes) {
      if (!groups.has(scene.lecture)) groups.set(scene.lecture, el("optgroup", { label: t(`lecture ${scene.lecture}`) }));
      groups.get(scene.lecture).append(el("option", { value: scene.id }, scene.title));
    }
    $("scenes").append(el("option", { value: "" }, t("choose-scene")), ...groups.values());
    $("scenes").addEventListener("change", () => $("scenes").value && this.goto($("scenes").value, 0));
    for (const group of groups.values()) $("lectures").append(el("button", { type: "button", class: "link", onclick: () => this.goto(group.firstChild.value, 0) }, group.label));
    $("way-free").addEventListener("click", () => this.fromWelcome());
    for (const [id, field] of [["way-file", "csv-file"], ["way-paste", "csv"]]) {
      $(id).addEventListener("click", () => {
        this.fromWelcome();
        $("points-card").open = $("csv").closest("details").open = true;
        $(field).scrollIntoView({ block: "center" });
        $(field).focus({ preventScroll: true });
        if (id === "way-file") $(field).click();
      });
    }
    $("playing").addEventListener("click", () => this.goto(this.demonstrated, 0));
    $("free").addEventListener("click", () => this.free());
    $("skip").addEventListener("click", (event) => { event.preventDefault(); $("board-0").focus(); }); // the address is the scene's
    $("share").addEventListener("click", () => this.share());
    $("help").addEventListener("click", () => {
      $("help-text").hidden = !$("help-text").hidden;
      $("help").setAttribute("aria-expanded", String(!$("help-text").hidden));
    });
    $("help-text").append(...t("help-text").split("\n").map((one) => el("p", {}, one)));
    $("undo").addEventListener("click", () => this.undo());
    $("redo").addEventListener("click", () => this.redo());
    $("clear").addEventListener("click", () => { this.remember(); this.change({ points: [], recipe: null, held: null, names: null }); });
    $("play").addEventListener("click", () => this.toggle());
    $("step").addEventListener("click", () => this.walk(this.moment + 1));
    $("back").addEventListener("click", () => this.walk(this.moment - 1));
    $("first").addEventListener("click", () => this.walk(0));
    $("last").addEventListener("click", () => this.walk(Infinity));
    $("moment").addEventListener("input", () => this.walk(Number($("moment").value)));
    $("copy").addEventListener("click", async () => {
      try { await navigator.clipboard.writeText($("code").textContent); this.say(t("copied")); $("copy").textContent = t("copied"); }
      catch { getSelection().selectAllChildren($("code")); }
      setTimeout(() => { $("copy").textContent = t("copy"); }, 1500);
    });
    $("code-card").addEventListener("toggle", () => this.code());
    $("csv").addEventListener("input", () => ($("csv").value.trim() ? this.readCsv($("csv").value) : $("csv-columns").replaceChildren()));
    $("csv").addEventListener("paste", (event) => {
      const text = event.clipboardData.getData("text");
      if (text.length <= LONGEST_FIELD) return;
      event.preventDefault();
      this.showTable(text);
    });
    $("csv").addEventListener("beforeinput", () => {
      if (this.abridged) $("csv").value = ""; // what is shown then is what is read
      this.abridged = false;
    });
    $("csv-file").addEventListener("change", () => this.readFile($("csv-file").files[0]));
    document.addEventListener("dragover", (event) => event.preventDefault());
    document.addEventListener("drop", (event) => {
      event.preventDefault();
      const [file] = event.dataTransfer?.files ?? [], text = event.dataTransfer?.getData("text");
      if (!file && !text) return;
      if (this.welcoming) this.fromWelcome();
      $("points-card").open = true;
      $("csv").closest("details").open = true;
      if (file) this.readFile(file);
      else this.showTable(text);
    });
    document.addEventListener("keydown", (event) => {
      const writing = event.target.closest?.("input:not([type=range], [type=radio]), textarea, select");
      if (writing || this.welcoming) return;
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "z") { event.preventDefault(); if (event.shiftKey) this.redo(); else this.undo(); }
      else if (event.ctrlKey || event.metaKey || event.altKey) return;
      else if (event.key === "n") this.walk(this.moment + 1);
      else if (event.key === "b") this.walk(this.moment - 1);
      else if (event.key === "p") this.toggle();
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.boards.forEach((one) => one.frame && one.draw(one.frame)));
  }

  // -- where the page is ---------------------------------------------------------------------------------------------

  async readHash() {
    const given = new URLSearchParams(location.hash.slice(1));
    const scene = this.scenes.find((one) => one.id === given.get("scene"));
    this.leaveWelcome();
    this.stop();
    this.saveNow(false); // what was to be saved belongs to the address before
    this.hash = location.hash;
    if (scene) {
      const index = Math.min(Math.max(Math.trunc(Number(given.get("step") ?? 1) - 1) || 0, 0), scene.steps.length - 1);
      const there = await this.goto(scene.id, index, false);
      if (there && given.has("board")) await this.unpack(given.get("board"));
    } else if (given.has("board") && (await this.unpack(given.get("board")))) this.panels(true);
    else await this.open();
  }

  // Open the page without a scene: the board of a table that the server was started on, the welcome, or a first board.
  async open() {
    const table = await load("/board.json");
    this.panels(true);
    if (table) { this.table = table; await this.tableBoard(0, 1); }
    else if (location.hash.length > 1) await this.firstBoard();
    else await this.welcome();
  }

  firstBoard() {
    return this.apply({ recipe: { kind: "separable", count: 40, noise: 0.2, seed: 1 }, model: { system: "Perceptron", settings: {} }, start: true });
  }

  // Show the ways to begin over scenes that run one after the other; where motion is not wanted, over one that has ended.
  async welcome() {
    const welcoming = this.welcoming = {};
    document.body.classList.add("welcoming");
    $("welcome").hidden = false;
    $("boards").inert = true;
    const demonstrate = async (k) => {
      const scene = this.scenes.find((one) => one.id === DEMONSTRATED[k]), { recipe, model } = this.guide.settings(scene, 0);
      this.demonstrated = scene.id;
      $("playing").textContent = scene.title;
      await this.apply({ recipe, model, start: !calm.matches });
    };
    await demonstrate(0);
    const goOn = async () => {
      for (let k = 1; this.welcoming === welcoming; k++) {
        await this.run(() => this.length / DEMONSTRATION);
        await new Promise((rested) => { setTimeout(rested, REST); });
        if (this.welcoming === welcoming) await demonstrate(k % DEMONSTRATED.length);
      }
    };
    if (!calm.matches) goOn();
  }

  leaveWelcome() {
    if (!this.welcoming) return;
    this.welcoming = null;
    document.body.classList.remove("welcoming");
    $("welcome").hidden = true;
    $("boards").inert = false;
  }

  // Leave the welcome for a board of one's own.
  fromWelcome() {
    this.stop();
    this.saveNow();
    this.panels(true);
    this.setHash("#board", true);
    this.firstBoard();
  }

  async tableBoard(i, j) {
    const { table } = this, labels = table.task === "classes";
    const axis = (k) => table.axes[Math.min(k, table.axes.length - 1)].values;
    const points = axis(i).map((x, n) => (labels ? [x, axis(j)[n], table.labels[n]] : [x, table.values[n], 0]));
    this.shownAxes = [i, j];
    const name = (k) => short(table.axes[Math.min(k, table.axes.length - 1)].name);
    const names = { classes: (table.classes ?? []).map(short), across: name(i), up: labels ? name(j) : short(table.target) };
    const kept = this.state.task === table.task && this.shownBefore ? this.state.model : { system: labels ? "LogisticRegression" : "LinearRegression", settings: {} };
    this.shownBefore = true;
    await this.apply({ task: table.task, points, names, model: kept, rival: this.state.rival });
    for (const note of table.notes) this.say(note);
  }

  // Open a step of a scene; false where one has gone elsewhere before it was there.
  async goto(id, index, write = true) {
    const scene = this.scenes.find((one) => one.id === id);
    if (!scene) return false;
    this.stop();
    this.saveNow(write);
    this.panels(false);
    $("scenes").value = id;
    if (!(await this.guide.open(scene, index, !write))) return false;
    if (write) this.setHash(`#scene=${id}${index ? `&step=${index + 1}` : ""}`, true);
    if (write && this.past.length) this.saveHash(); // the board is still what hands made of it
    document.title = `${scene.title} · ${t("title")}`;
    this.say(`${scene.title}. ${scene.steps[index].say}`);
    if (write && innerWidth <= 900) $("guide").scrollIntoView({ behavior: calm.matches ? "auto" : "smooth" });
    return true;
  }

  gotoNext() {
    const next = (this.scenes.findIndex((one) => one.id === this.guide.scene.id) + 1) % this.scenes.length;
    this.goto(this.scenes[next].id, 0);
  }

  free() {
    this.stop();
    this.saveNow();
    this.opened = {}; // what was on its way to the board does not come
    this.state.instrument = null;
    this.panels(true);
    this.refit();
    this.setHash(`#board=${this.pack() ?? ""}`, true);
  }

  panels(free) {
    this.leaveWelcome();
    for (const name of ["points-card", "model-card"]) $(name).open = free && innerWidth > 900;
    $("rival-card").open = $("code-card").open = false;
    if (!free) return;
    this.guide.close();
    $("scenes").value = "";
    document.title = t("title");
  }

  setHash(hash, push = false) {
    if (hash === location.hash) return;
    this.hash = hash;
    if (push) history.pushState(null, "", hash);
    else history.replaceState(null, "", hash);
  }

  saveHash() {
    clearTimeout(this.saving);
    this.saving = setTimeout(() => this.saveNow(), 250);
  }

  // Write what waits to be saved into the address, or let it go.
  saveNow(write = true) {
    const waits = Boolean(this.saving);
    clearTimeout(this.saving);
    this.saving = null;
    if (!waits || !write || this.welcoming) return;
    const { scene, index } = this.guide;
    const where = scene ? `scene=${scene.id}${index ? `&step=${index + 1}` : ""}` : "";
    const board = this.pack();
    this.setHash(`#${[where, board ? `board=${board}` : ""].filter(Boolean).join("&")}`);
  }

  pack() {
    const { task, points, recipe, edited, held, names, model, rival, instrument } = this.state;
    if (edited && points.length + (held?.length ?? 0) > MOST_SHARED) return null;
    const text = JSON.stringify({ task, recipe, ...(edited ? { points, held } : {}), names, model, rival, instrument, moment: this.moment });
    const raw = Array.from(new TextEncoder().encode(text), (code) => String.fromCharCode(code)).join("");
    return btoa(raw).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
  }

  async unpack(text) {
    try {
      const raw = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
      const given = JSON.parse(new TextDecoder().decode(Uint8Array.from(raw, (c) => c.charCodeAt(0))));
      const plain = (list) => (Array.isArray(list) && list.every((one) => Array.isArray(one) && one.length === 3 && one.every(Number.isFinite)) ? list : null);
      const points = plain(given.points) ?? [], held = plain(given.held);
      if (!Object.hasOwn(FIRST, given.task) || typeof given.model?.system !== "string") return false;
      const { task, recipe, names, model, rival, instrument } = given;
      const moment = Number.isFinite(given.moment) ? Math.trunc(given.moment) : Infinity;
      const told = names && Array.isArray(names.classes) ? { classes: names.classes.slice(0, 5).map(short), across: short(names.across), up: short(names.up) } : null;
      await this.apply({ task, recipe, names: told, model, rival, instrument, moment, ...(recipe && !given.points ? {} : { points, held }) });
      return true;
    } catch { return false; }
  }

  async share() {
    this.saveHash();
    this.saveNow();
    const copied = await navigator.clipboard?.writeText(location.href).then(() => true, () => false);
    $("share").textContent = t(this.pack() === null ? "too-many" : copied ? "shared" : "not-copied");
    setTimeout(() => { $("share").textContent = t("share"); }, 2000);
  }

  // -- what is on the board --------------------------------------------------------------------------------------------

  // Take up what a scene, an address or a table says.
  async apply({ task, points, held, recipe, names, model, rival, instrument, start, moment }) {
    this.stop();
    const opened = this.opened = {}; // the newest that is taken up is what the board shows
    const state = { ...this.state, held: held ?? null, names: names ?? null, rival: rival ?? null, instrument: instrument ?? null };
    if (points) Object.assign(state, { task: task ?? "classes", points: structuredClone(points), recipe: recipe ?? null, edited: true });
    else if (recipe) {
      const made = await this.link.insist({ type: "generate", recipe });
      if (this.opened !== opened) return;
      if (made.type === "points") Object.assign(state, { task: made.task, points: made.points, recipe, edited: false });
    }
    state.model = model ?? (state.task === this.state.task ? this.state.model : { system: FIRST[state.task], settings: {} });
    this.state = state;
    this.past = [];
    this.future = [];
    this.clearChart();
    await this.refit(start ? 0 : moment ?? Infinity);
    this.drawForms();
  }

  snapshot() {
    const { task, points, recipe, edited, held, names, model, rival } = this.state;
    return JSON.stringify({ task, points, recipe, edited, held, names, model, rival });
  }

  remember() {
    this.past.push(this.snapshot());
    if (this.past.length > MOST_UNDONE) this.past.shift();
    this.future = [];
    this.buttons();
  }

  forget() {
    this.past.pop();
    this.buttons();
  }

  // Whether hands have changed nothing since the state was remembered; then there is nothing to undo.
  unchanged() {
    const same = this.past.at(-1) === this.snapshot();
    if (same) this.forget();
    return same;
  }

  undo() { this.swap(this.past, this.future, "undone"); }
  redo() { this.swap(this.future, this.past, "redone"); }

  swap(from, to, told) {
    if (!from.length) return;
    to.push(this.snapshot());
    this.state = { ...this.state, ...JSON.parse(from.pop()) };
    this.say(t(told));
    this.refit();
    this.drawForms();
    this.saveHash();
  }

  // Points that hands have changed; fresh ones are still drawn by the recipe that they came from.
  change(more) {
    Object.assign(this.state, { edited: true, ...more });
    this.drawPoints();
    this.settle();
  }

  add([x, y]) {
    if (this.state.points.length >= MOST_ROWS) return this.say(t("full"));
    const k = this.state.task === "classes" ? this.klass : 0;
    this.change({ points: [...this.state.points, [x, y, k]] });
    this.say(this.state.task === "classes" ? t("added", { x, y, name: this.className(k) }) : t("added-point", { x, y }));
  }

  move(i, [x, y]) {
    const { points } = this.state;
    if (!points[i]) return;
    this.moved(points.with(i, [x, y, points[i][2]]));
  }

  remove(i) {
    this.change({ points: this.state.points.filter((_, n) => n !== i) });
    this.say(t("removed"));
  }

  shake(which) {
    if (!which.length) return;
    const points = [...this.state.points];
    for (const i of which) {
      const [x, y, k] = points[i];
      const by = () => 0.15 * (Math.random() + Math.random() - 1);
      points[i] = [Math.round(1000 * (x + by())) / 1000, Math.round(1000 * (y + by())) / 1000, k];
    }
    this.moved(points);
  }

  // Points that are under way: a list is never changed in place, so that boards see by it whether it is another one.
  moved(points) {
    Object.assign(this.state, { points, edited: true });
    this.drawPoints();
    this.later();
  }

  drawPoints() {
    for (const one of this.boards) if (one.figure.isConnected) one.points();
  }

  choose(k) {
    this.klass = k;
    [...$("classes").children].forEach((one, i) => one.setAttribute("aria-pressed", String(i === k)));
    this.say(this.className(k));
  }

  className(k) {
    return this.classNames[k];
  }

  // The names of the classes, no two of them equal: those of a table, and after them the page's own.
  get classNames() {
    if (this.named && this.named.of === this.state.names) return this.named.names;
    const given = this.state.names?.classes ?? [], names = [];
    for (let k = 0; k < 5; k++) {
      const name = given[k] || t("class-n", { n: k + 1 });
      let own = name;
      for (let n = 2; names.includes(own); n++) own = `${name} (${n})`;
      names.push(own);
    }
    this.named = { of: this.state.names, names };
    return names;
  }

  settle() {
    this.stale = false;
    this.refit();
    this.saveHash();
  }

  // While a point is dragged: fit when the last fit is done, and show its end; how it learns is shown once hands rest.
  async later() {
    this.stale = true;
    if (this.pending) return;
    this.pending = true;
    try {
      for (;;) {
        await new Promise(requestAnimationFrame);
        if (!this.stale) break; // hands rest, and all of it is fitted
        this.stale = false;
        await this.refit(Infinity, this.state.instrument?.name !== "surface");
      }
    } finally {
      this.pending = false;
    }
  }

  buttons() {
    $("undo").disabled = !this.past.length;
    $("redo").disabled = !this.future.length;
    $("classes").hidden = this.state.task !== "classes";
    if (this.classesShown === this.classNames) return;
    this.classesShown = this.classNames;
    [...$("classes").children].forEach((button, k) => {
      const name = this.className(k);
      button.title = name;
      button.setAttribute("aria-label", name);
      button.lastChild.textContent = this.state.names?.classes?.[k] ? name : "";
    });
  }

  // -- parts of the state by their path, for the controls of scenes ---------------------------------------------------

  read(path) {
    return path.split(".").reduce((at, name) => at?.[name], this.state);
  }

  async write(path, value) {
    const names = path.split("."), last = names.pop();
    let at = this.state;
    for (const name of names) at = at[name] ??= {};
    at[last] = value;
    this.saveHash();
    if (names[0] === "instrument" || path === "instrument") return this.measure();
    if (names[0] === "recipe" || path === "recipe") {
      const { opened } = this, made = await this.link.ask({ type: "generate", recipe: this.state.recipe });
      if (this.opened !== opened) return;
      if (made.type === "points") Object.assign(this.state, { task: made.task, points: made.points, edited: false });
    }
    await this.refit(this.guide.scene && this.moment === 0 ? 0 : Infinity);
    this.drawForms();
  }

  fact(of, name) {
    if (of === "instrument") return this.chart?.facts?.[name];
    return this.slots[of === "rival" ? 1 : 0].fitted?.facts?.[name];
  }

  // -- fitting and drawing ---------------------------------------------------------------------------------------------

  async refit(moment = Infinity, brief = false) {
    const two = Boolean(this.state.rival);
    $("boards").classList.toggle("two", two);
    if (two !== this.boards[1].figure.isConnected) {
      if (two) $("boards").append(this.boards[1].figure);
      else { this.boards[1].figure.remove(); this.slots[1] = {}; }
    }
    this.buttons();
    const fits = [this.fit(0, this.state.model, brief), ...(two ? [this.fit(1, this.state.rival, brief)] : [])];
    await Promise.all(fits);
    this.moment = Math.max(0, Math.min(moment, this.length - 1));
    this.verdicts();
    if (brief) this.slots.forEach(({ fitted }, slot) => { if (fitted?.frame) this.drawFrame(slot, fitted.frame); });
    await Promise.all([this.measure(), brief ? null : this.go(this.moment)]);
    if (!brief) { this.errorCurve(); this.code(); }
    this.guide.changed();
  }

  async fit(slot, model, brief) {
    const { task, points, recipe, held } = this.state, names = this.classNames;
    const answer = await this.link.ask({ type: "fit", slot, task, points, names, recipe, fresh: held, model, window: brief ? windowMessage : null });
    if (answer.type === "skipped") return;
    this.slots[slot].fitted = answer.type === "fitted" ? answer : null;
    this.slots[slot].trouble = answer.type === "error" ? answer.message : null;
    this.boards[slot].describe(answer.call ?? model.system ?? "");
    if (!this.slots[slot].fitted) this.boards[slot].clear();
  }

  get length() {
    return Math.max(1, ...this.slots.map((one) => one.fitted?.positions.length ?? 0));
  }

  // The moment of a slot at the moment of the player: both end together.
  momentOf(slot) {
    const own = this.slots[slot].fitted?.positions.length ?? 1, all = this.length;
    return own === all ? this.moment : Math.round((this.moment / Math.max(1, all - 1)) * (own - 1));
  }

  // Go to a moment by hand: the address keeps it.
  walk(moment) {
    this.stop();
    this.go(moment);
    this.saveHash();
  }

  async go(moment) {
    this.moment = Math.max(0, Math.min(moment, this.length - 1));
    const slider = $("moment");
    if (Number(slider.max) !== this.length - 1) slider.max = this.length - 1;
    slider.value = this.moment;
    const driver = this.slots.find((one) => one.fitted?.positions.length === this.length) ?? this.slots[0];
    const { fitted } = driver;
    const position = fitted?.positions[this.moment] ?? 0;
    $("position").textContent = fitted ? t(`at ${fitted.unit}`, { now: position, all: fitted.positions.at(-1) }) : "";
    slider.setAttribute("aria-valuetext", $("position").textContent);
    for (const id of ["first", "back"]) $(id).disabled = this.moment === 0;
    for (const id of ["step", "last"]) $(id).disabled = this.moment >= this.length - 1;
    $("play").disabled = slider.disabled = this.length < 2;
    await this.frames();
  }

  frames() {
    return Promise.all(this.slots.map((one, slot) => (one.fitted ? this.frame(slot) : null)));
  }

  // One request for a frame at a time: what is asked for meanwhile is skipped but for the last.
  async frame(slot) {
    const one = this.slots[slot];
    one.want = this.momentOf(slot);
    if (one.busy) return one.busy;
    one.busy = (async () => {
      try {
        let drawn = -1;
        while (one.fitted && drawn !== one.want) {
          drawn = one.want;
          const answer = await this.link.ask({ type: "frame", slot, moment: drawn, window: windowMessage });
          if (answer.type !== "frame" || !one.fitted) break;
          this.drawFrame(slot, answer);
        }
      } finally {
        one.busy = null;
      }
    })();
    return one.busy;
  }

  drawFrame(slot, frame) {
    this.boards[slot].draw(frame);
    this.numbers(slot, frame);
    this.chartMoment();
  }

  toggle() {
    if (this.running) this.stop();
    else this.run(() => Number($("speed").value));
  }

  // Run from the moment to the end, or from the start where that is reached, at a speed in moments a second.
  run(speed) {
    if (this.moment >= this.length - 1) this.moment = 0;
    this.running = true;
    $("play").textContent = t("pause");
    let before = performance.now(), rest = 0;
    const tick = (now) => {
      if (!this.running) return;
      rest += ((now - before) / 1000) * speed();
      before = now;
      const by = Math.floor(rest);
      rest -= by;
      if (by) this.go(this.moment + by);
      if (this.moment >= this.length - 1) this.stop();
      else requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
    return new Promise((stopped) => { this.stopped = stopped; });
  }

  stop() {
    if (!this.running) return;
    this.running = false;
    this.stopped();
    $("play").textContent = t("play");
    this.code();
    this.saveHash();
    this.say($("position").textContent);
  }

  // -- beside the board ------------------------------------------------------------------------------------------------

  verdicts() {
    $("verdicts").replaceChildren();
    this.slots.forEach((one, slot) => {
      if (slot && !this.state.rival) return;
      const box = el("div", { class: "verdict card", id: `verdict-${slot}` });
      if (one.trouble) box.append(el("p", { class: "bad", role: "alert" }, one.trouble));
      else if (one.fitted) {
        const { certificate, call, notes } = one.fitted;
        const good = certificate.status === "solved";
        box.append(el("p", {}, el("code", {}, call), ": ", el("span", { class: `status ${good ? "good" : "bad"}` }, certificate.status), ` ${t("by", { solver: certificate.solver })}`));
        if (certificate.advice !== "nothing to do") box.append(el("p", { class: "small" }, certificate.advice));
        if (good) box.append(el("p", { class: "small" }, this.certificate(certificate)));
        for (const note of notes.slice(0, 2)) if (!note.includes(certificate.advice.slice(-40))) box.append(el("p", { class: "small" }, note));
        box.append(el("div", { class: "numbers", id: `numbers-${slot}` }));
      }
      $("verdicts").append(box);
    });
  }

  certificate({ digits, condition, gap, passes }) {
    const parts = [];
    if (digits != null) parts.push(t("digits", { digits: digits.toFixed(1) }));
    if (condition != null) parts.push(t("condition", { condition: show(condition, 3) }));
    if (gap != null) parts.push(t("gap", { gap: show(gap, 2) }));
    parts.push(t("passes", { passes }));
    return parts.join(", ");
  }

  numbers(slot, frame) {
    const box = $(`numbers-${slot}`), { fitted } = this.slots[slot];
    if (!box || !fitted) return;
    const parts = []; // names and values
    const tell = (key, value) => value != null && parts.push([key, show(value)]);
    tell(fitted.curve.what, frame.error ?? fitted.curve.own[frame.moment]);
    tell("fresh", fitted.curve.fresh?.[frame.moment]);
    if (frame.weights && frame.weights.length <= 9) parts.push(["weights", frame.weights.map((w) => show(w)).join(", ")]);
    if (frame.moment === fitted.positions.length - 1) for (const name of ["mistakes", "bound", "margin", "penalty", "length"]) tell(name, fitted.facts[name]);
    const keys = parts.map(([key]) => key).join(" ");
    if (box.dataset.keys !== keys) {
      box.dataset.keys = keys;
      box.replaceChildren(...parts.map(([key]) => el("span", { "data-fact": key }, `${t(`number ${key}`)} `, el("b"))));
    }
    parts.forEach(([, value], k) => {
      const place = box.children[k].lastChild;
      if (place.textContent !== value) place.textContent = value;
    });
    if (!this.running) this.say(`${fitted.call}. ${$("position").textContent}. ${[...box.children].map((one) => one.textContent).join(", ")}`);
  }

  errorCurve() {
    const box = $("curve"), lines = [];
    this.slots.forEach(({ fitted }, slot) => {
      if (!fitted || fitted.positions.length < 2) return;
      if (slot && this.slots[0].fitted?.positions.length > 1 && this.slots[0].fitted.curve.what !== fitted.curve.what) return;
      const both = this.slots[1].fitted ? ` · ${this.state[slot ? "rival" : "model"].system}` : "";
      lines.push({ name: `${t("line training")}${both}`, x: this.places(fitted), y: fitted.curve.own });
      if (fitted.curve.fresh) lines.push({ name: `${t("line fresh")}${both}`, x: this.places(fitted), y: fitted.curve.fresh });
    });
    box.hidden = !lines.length || this.alone.has(this.state.instrument?.name);
    const first = this.slots.find((one) => one.fitted?.positions.length > 1)?.fitted;
    if (!first || !lines.length) { this.markCurve = null; return; }
    const x = this.places(first), labels = { title: t("error-curve", { what: t(`number ${first.curve.what}`) }), x: t(`unit ${this.curveUnit}`) };
    const mark = lineChart(box, { x, lines, log: "", mark: null }, labels);
    this.markCurve = () => mark(x[Math.min(this.moment, x.length - 1)]);
    this.markCurve();
  }

  // Where the moments of a fit are on the axis of the curve: rows count as epochs beside a system that has epochs.
  places(fitted) {
    const units = new Set(this.slots.map((one) => one.fitted?.unit));
    this.curveUnit = units.has("row") && units.has("epoch") ? "epoch" : fitted.unit;
    const rows = this.curveUnit === "epoch" && fitted.unit === "row" ? Math.max(1, this.state.points.length) : 1;
    return fitted.positions.map((one) => one / rows);
  }

  async measure() {
    const { instrument, task, points, recipe, held } = this.state;
    const box = $("chart"), alone = this.alone.has(instrument?.name);
    document.body.classList.toggle("alone", alone);
    const place = document.querySelector(alone ? ".left" : ".right");
    if (box.parentElement !== place) (alone ? place.firstChild : $("curve")).before(box);
    if (!instrument) { box.hidden = true; this.clearChart(); return; }
    if (!(this.alone.has(instrument.name) && this.chart?.key === JSON.stringify(instrument))) {
      const answer = await this.link.ask({ type: "instrument", name: instrument.name, task, points, names: this.classNames, recipe, fresh: held, settings: instrument.settings ?? {} });
      if (answer.type === "skipped" || this.state.instrument?.name !== instrument.name) return;
      this.chart = { ...answer, key: JSON.stringify(instrument) };
    }
    box.hidden = false;
    this.drawChart();
    this.code();
    this.guide.changed();
  }

  // Forget the chart, and what is drawn of it on the boards.
  clearChart() {
    this.chart = this.walkPaths = null;
    for (const one of this.boards) one.extra = one.handle = null;
  }

  drawChart() {
    const { chart } = this, box = $("chart"), { name } = this.state.instrument;
    box.dataset.instrument = name;
    if (chart.type === "error") { box.replaceChildren(el("p", { class: "bad" }, chart.message)); return; }
    const title = t(`chart ${name}`);
    for (const one of this.boards) one.extra = one.handle = null;
    this.walkPaths = null;
    if (name === "surface") { if (chart.centre) this.drawSurface(); this.chartMoment(); }
    else if (name === "proof") {
      box.replaceChildren(el("h3", {}, title), el("p", { id: "proof-text" }, chart.text));
      this.boards[0].extra = (board) => this.drawProof(board);
    } else {
      const shown = this.state.instrument.settings?.show;
      lineChart(box, chart, { title: shown ? t(`chart ${name} ${shown}`) : title, x: t(`axis ${name}`) });
      if (chart.histograms) {
        histogram(box, chart.histograms);
        this.boards[0].extra = (board) => this.drawProjection(board);
      }
      if (chart.sounds) {
        const disabled = !sound.possible;
        const buttons = Object.entries(chart.sounds).map(([key, text]) => el("button", { type: "button", "data-sound": key, disabled, onclick: () => sound.play(text, chart.rate) }, t(`sound ${key}`)));
        box.append(el("p", { class: "group" }, ...buttons, el("button", { type: "button", disabled, onclick: sound.stop }, t("silence"))));
        if (disabled) box.append(el("p", { class: "small" }, t("no-sound")));
      }
      const facts = Object.entries(chart.facts ?? {}).filter(([key, value]) => value != null && t(`fact ${name} ${key}`) !== `fact ${name} ${key}`);
      if (facts.length) box.append(el("div", { class: "numbers" }, ...facts.map(([key, value]) => el("span", { "data-fact": key }, `${t(`fact ${name} ${key}`)} `, el("b", {}, show(value))))));
    }
    this.boards.forEach((one) => { if (one.extra && one.frame) one.draw(one.frame); });
  }

  drawSurface() {
    const numbers = this.state.task === "numbers";
    const paths = this.slots.filter((one) => one.fitted?.weights).map((one) => one.fitted.weights.map((w) => (numbers ? w.slice(0, 2) : w.slice(1, 3))));
    this.walkPaths = surfaceChart($("chart"), this.chart, paths, { title: t("chart surface"), x: numbers ? "w0" : "w1", y: numbers ? "w1" : "w2" });
  }

  // What of the charts follows the moment.
  chartMoment() {
    this.walkPaths?.(this.momentOf(0));
    if (this.length > 1) this.markCurve?.(); // while a point is dragged, the curve is of the fit before
  }

  // The direction that is turned by hand, the points' feet on it, and the best one beside it.
  drawProjection(board) {
    const { direction: [a, b], optimum: [p, q] } = this.chart, layer = board.layers.over, far = 2.6;
    board.line([[-far * p, -far * q], [far * p, far * q]], { class: "optimum", id: "optimum" });
    const feet = new Map();
    for (const [x, y, k] of this.state.points) {
      const s = a * x + b * y;
      feet.set(k, `${feet.get(k) ?? ""}M${px(s * a - 0.07 * b).toFixed(1)},${py(s * b + 0.07 * a).toFixed(1)}L${px(s * a + 0.07 * b).toFixed(1)},${py(s * b - 0.07 * a).toFixed(1)}`);
    }
    board.arrow([-far * a, -far * b], [far * a, far * b], "direction");
    for (const [k, d] of feet) layer.put("path", { class: `feet s${k}`, d });
    layer.put("circle", { class: "handle", id: "handle", cx: px(far * a), cy: py(far * b), r: 15 });
    board.handle = { at: [far * a, far * b], turn: (here) => this.turn(here) };
  }

  // Turn the direction to a place on the board; while one turn is measured, the last of the others waits.
  async turn([x, y]) {
    this.turned = [x, y];
    if (this.turning) return;
    this.turning = true;
    while (this.turned) {
      const [a, b] = this.turned;
      this.turned = null;
      const angle = Math.round((Math.atan2(b, a) * 180) / Math.PI + 180) % 180;
      await this.write("instrument.settings.angle", angle);
      this.guide.sync();
    }
    this.turning = false;
  }

  drawProof(board) {
    const { chart } = this, { points } = this.state, layer = board.layers.over;
    if (chart.plane) {
      const ends = Board.ends(chart.plane);
      if (ends) board.line(ends, { class: "proof-plane", id: "proof-plane", "data-w": chart.plane.join(" ") });
    }
    if (!chart.meeting) return;
    const [x, y] = chart.meeting.map((one, k) => (k ? py(one) : px(one))), own = new Map();
    const parts = chart.combination.filter(({ row }) => points[row]).map(({ row, share }) => [...points[row], share]);
    for (const [a, b, k] of parts) own.set(k, [...(own.get(k) ?? []), `${px(a)},${py(b)}`]);
    for (const [k, corners] of own) layer.put("polygon", { class: `proof-hull c${k}`, points: corners.join(" ") });
    for (const [a, b, k, share] of parts) {
      layer.put("line", { class: `proof-edge s${k}`, "stroke-width": (2 + 6 * share).toFixed(1), x1: px(a), y1: py(b), x2: x, y2: y });
      layer.put("text", { class: "share", x: px(a) + 14, y: py(b) - 12 }, show(share, 2));
    }
    layer.put("circle", { class: "meeting", id: "meeting", cx: x, cy: y, r: 14 });
  }

  async code() {
    if (!$("code-card").open || !this.slots[0].fitted) return;
    const moments = [0, ...(this.slots[1].fitted ? [1] : [])].map((slot) => this.momentOf(slot));
    const answer = await this.link.ask({ type: "python", moments, instrument: this.state.instrument });
    $("code").textContent = answer.code ?? answer.message ?? "";
  }

  // -- forms -----------------------------------------------------------------------------------------------------------

  async form(name) {
    if (!this.forms.has(name)) this.forms.set(name, await this.link.insist({ type: "form", system: name }));
    return this.forms.get(name);
  }

  async drawForms() {
    const { task, model, rival } = this.state;
    await drawForm($("model-form"), model, task, this, (next) => this.remodel({ model: next }));
    await drawForm($("rival-form"), rival, task, this, (next) => this.remodel({ rival: next }), true);
    this.pointsForm();
  }

  async remodel(more) {
    this.remember();
    Object.assign(this.state, more);
    await this.refit();
    this.drawForms();
    this.saveHash();
  }

  pointsForm() {
    const { recipe, task } = this.state, box = $("points-form");
    const now = { kind: this.state.edited ? "" : recipe?.kind ?? "", count: recipe?.count ?? 60, noise: recipe?.noise ?? 0.3, seed: recipe?.seed ?? 1 };
    const make = async (more) => {
      const next = { ...now, ...more };
      if (!next.kind) return;
      this.remember();
      const { opened } = this, made = await this.link.ask({ type: "generate", recipe: next });
      if (this.opened !== opened) return;
      if (made.type !== "points") { this.forget(); return this.say(made.message ?? t("lost", { port: location.port })); }
      const model = made.task === this.state.task ? {} : { model: { system: FIRST[made.task], settings: {} }, rival: null };
      Object.assign(this.state, { task: made.task, points: made.points, recipe: next, edited: false, held: null, names: null, ...model });
      await this.refit();
      this.drawForms();
      this.saveHash();
    };
    const kind = el("select", { "data-field": "kind" }, el("option", { value: "" }, t("by-hand")));
    for (const group of Object.keys(FIRST)) {
      const part = el("optgroup", { label: t(`task ${group}`) });
      for (const [name, of] of Object.entries(this.kinds)) if (of === group) part.append(el("option", { value: name, selected: name === now.kind }, t(`kind ${name}`)));
      kind.append(part);
    }
    kind.addEventListener("change", () => make({ kind: kind.value }));
    const number = (name, least, most, step) => {
      const input = el("input", { type: "number", min: least, max: most, step, value: now[name], "data-field": name });
      input.addEventListener("change", () => { const value = Number(input.value); if (input.checkValidity()) make({ [name]: value }); else input.reportValidity(); });
      return el("label", { class: "field" }, el("span", {}, t(`points ${name}`)), input);
    };
    const tasks = el("select", { "data-field": "task" });
    for (const name of Object.keys(FIRST)) tasks.append(el("option", { value: name, selected: name === task }, t(`task ${name}`)));
    tasks.addEventListener("change", () => this.remodel({ task: tasks.value, recipe: null, edited: true, held: null, names: null, model: { system: FIRST[tasks.value], settings: {} }, rival: null, instrument: null }));
    const noise = el("button", { type: "button", onclick: async () => {
      this.remember();
      const { opened } = this, made = await this.link.ask({ type: "noise", task, points: this.state.points, amount: 0.15, seed: Math.floor(1e9 * Math.random()) });
      if (this.opened !== opened) return;
      if (made.type === "points") this.change({ points: made.points });
      else this.forget();
    } }, t("noise"));
    const separable = el("button", { type: "button", "aria-pressed": String(this.state.instrument?.name === "proof"), disabled: task !== "classes", onclick: () => {
      this.state.instrument = this.state.instrument?.name === "proof" ? null : { name: "proof" };
      this.refit(this.moment);
      this.pointsForm();
    } }, t("separable"));
    const hold = el("button", { type: "button", id: "hold", "aria-pressed": String(Boolean(this.state.held)), title: t("hold-help"), disabled: Boolean(recipe) || (!this.state.held && this.state.points.length < 6), onclick: () => {
      const { points, held } = this.state;
      const third = (one, i) => i % 3 === 2;
      this.remodel(held ? { points: [...points, ...held], held: null } : { points: points.filter((one, i) => !third(one, i)), held: points.filter(third), edited: true });
    } }, t("hold"));
    redraw(box,
      el("label", { class: "field" }, el("span", {}, t("task-name")), tasks),
      el("label", { class: "field" }, el("span", {}, t("points kind")), kind),
      ...(now.kind ? [number("count", 1, MOST_ROWS, 1), number("noise", 0, 5, 0.05), number("seed", 0, 2147483647, 1)] : []),
      el("span", { class: "group" }, noise, hold, separable), ...this.axesFields());
  }

  axesFields() {
    if (!this.table) return [];
    const pick = (at) => {
      const select = el("select", { "data-field": `axis-${at}` });
      this.table.axes.forEach((axis, k) => select.append(el("option", { value: k, selected: k === this.shownAxes?.[at] }, axis.name)));
      select.addEventListener("change", () => { const next = [...this.shownAxes]; next[at] = Number(select.value); this.tableBoard(...next); });
      return el("label", { class: "field" }, el("span", {}, t(at ? "axis-up" : "axis-across")), select);
    };
    const notes = this.table.notes.map((one) => el("p", { class: "small note-of-table" }, one));
    return [...(this.table.task === "classes" ? [pick(0), pick(1)] : [pick(0)]), ...notes];
  }

  async readFile(file) {
    if (!file) return;
    const text = file.size > LONGEST_TABLE ? null : await file.text().catch(() => ""); // a folder has no text
    this.readCsv(text);
  }

  // Put a text into the field, or its beginning where the field would take long over it, and read it.
  showTable(text) {
    this.abridged = text.length > LONGEST_FIELD;
    $("csv").value = this.abridged ? `${text.slice(0, BEGINNING)} …` : text;
    this.readCsv(text);
  }

  // Read a table; null stands for one that is too long.
  readCsv(text) {
    const box = $("csv-columns"), tell = (key) => box.append(el("p", { class: "bad", role: "alert" }, t(key)));
    box.replaceChildren();
    if (text === null || new Blob([text]).size > LONGEST_TABLE) return tell("file-too-long");
    const table = parse(text);
    if (!table) return tell("no-table");
    const numeric = table.columns.filter((one) => one.numeric);
    if (numeric.length < 2) return tell("two-columns");
    if (table.long) tell("csv-long");
    if (table.wide) tell("csv-wide");
    const first = chosen(table);
    const pick = (label, from, at, none) => {
      const select = el("select", {}, ...(none ? [el("option", { value: "" }, t("none"))] : []));
      for (const one of from) {
        const k = table.columns.indexOf(one);
        select.append(el("option", { value: k, selected: k === at }, one.name));
      }
      box.append(el("label", { class: "field" }, el("span", {}, t(label)), select));
      return select;
    };
    const x = pick("axis-across", numeric, first.axes[0]), y = pick("axis-up", numeric, first.axes[1]);
    const label = pick("csv-class", table.columns, first.label, true);
    box.append(el("button", { type: "button", id: "csv-take", onclick: () => {
      const of = (select) => (select.value === "" ? null : table.columns[Number(select.value)]);
      const { points, classes } = pointsOf(table, of(x), of(y), of(label));
      const task = label.value === "" ? "numbers" : "classes";
      const model = task === this.state.task ? {} : { model: { system: FIRST[task], settings: {} }, rival: null };
      const names = { classes: classes.map(short), across: short(of(x).name), up: short(of(y).name) };
      $("csv-took").textContent = t("csv-took", { points: points.length, rows: table.rows });
      this.say($("csv-took").textContent);
      this.remodel({ task, points, recipe: null, edited: true, held: null, names, ...model });
    } }, t("csv-take", { rows: table.rows })), el("p", { class: "small", id: "csv-took" }));
  }

  say(text) { if (!this.welcoming) $("said").textContent = text; }
}

const app = new App();
globalThis.playground = app;
app.start();
