// Formulas: the part of LaTeX that the scenes use, as MathML, which browsers draw without fonts or scripts of their own.
const MATHML = "http://www.w3.org/1998/Math/MathML";
const LETTERS = {
  alpha: "α", beta: "β", gamma: "γ", Delta: "Δ", epsilon: "ε", eta: "η", lambda: "λ", mu: "μ", pi: "π", rho: "ρ", sigma: "σ",
  Sigma: "Σ", phi: "φ", omega: "ω", infty: "∞",
};
const SIGNS = { leftarrow: "←", le: "≤", ge: "≥", to: "→", propto: "∝", pm: "±", in: "∈", forall: "∀", ldots: "…", mid: "|" };
const NAMES = new Set(["argmax", "cos", "diag", "exp", "ln", "max", "min", "sign", "sin", "tanh", "Trace"]);
const LIMITS = new Set(["max", "min", "argmax"]); // what stands below them, not beside
const SPACES = { ",": ".17em", quad: "1.2em" };
const CLOSING = { "(": ")", "[": "]" };
const TOKEN = /\\([A-Za-z]+|,)|[0-9]+(?:\.[0-9]+)?|[A-Za-z]|\S/g;

function node(tag, attributes, ...children) {
  const made = document.createElementNS(MATHML, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

// Brackets about something, as high as a fraction in it.
function enclosed(bracket, inside) {
  const stretchy = String(Boolean(inside.querySelector("mfrac")));
  return node("mrow", {}, node("mo", { stretchy }, bracket), inside, node("mo", { stretchy }, CLOSING[bracket]));
}

// The tree of a formula, <math>; a command that is not known is an error.
export function formula(tex) {
  const tokens = tex.match(TOKEN);
  let at = 0;

  const group = (end) => {
    const parts = [];
    while (at < tokens.length && tokens[at] !== end) parts.push(scripted());
    at++;
    return node("mrow", {}, ...parts);
  };
  const argument = () => (tokens[at] === "{" ? (at++, group("}")) : atom());

  // An atom with what is below and above it.
  const scripted = () => {
    const name = tokens[at].slice(1), base = atom();
    let below = null, above = null;
    for (; at < tokens.length && "_^'".includes(tokens[at]);) {
      const mark = tokens[at++];
      if (mark === "_") below = argument();
      else above = mark === "^" ? argument() : node("mo", {}, "′");
    }
    const over = name === "sum" || LIMITS.has(name);
    if (below && above) return node(over ? "munderover" : "msubsup", {}, base, below, above);
    if (below) return node(over ? "munder" : "msub", {}, base, below);
    return above ? node(over ? "mover" : "msup", {}, base, above) : base;
  };

  const atom = () => {
    const token = tokens[at++], name = token.slice(1);
    if (token === "{") return group("}");
    if (token in CLOSING) return enclosed(token, group(CLOSING[token]));
    if (/^[0-9]/.test(token)) return node("mn", {}, token);
    if (/^[A-Za-z]$/.test(token)) return node("mi", {}, token);
    if (!token.startsWith("\\")) return node("mo", token === "|" ? { stretchy: "false", lspace: "0", rspace: "0" } : {}, token === "-" ? "−" : token);
    if (name === "frac") return node("mfrac", {}, argument(), argument());
    if (name === "hat") return node("mover", { accent: "true" }, argument(), node("mo", { stretchy: "false" }, "^"));
    if (name === "sum") return node("mo", { largeop: "true", movablelimits: "false" }, "∑");
    if (NAMES.has(name)) return node("mrow", {}, node("mi", {}, name), node("mspace", { width: ".12em" }));
    if (name in LETTERS) return node("mi", {}, LETTERS[name]);
    if (name in SIGNS) return node("mo", {}, SIGNS[name]);
    if (name in SPACES) return node("mspace", { width: SPACES[name] });
    throw new Error(`no command ${token} in ${tex}`);
  };

  return node("math", { display: "block", alttext: tex }, group());
}
