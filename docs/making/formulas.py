r"""Formulas in docstrings, written for terminals, as TeX: `1/2 sum_n (y_n - w'x_n)^2` as `\frac{1}{2} \sum_{n} ...`.

A formula is a run of numbers, names of quantities, signs and brackets in which something shows that it is one: an
exponent, an index, a transpose, a sum. Words around it stay as they are, and so does what is in backticks or quotes.
"""

from __future__ import annotations

import re

TOKEN = re.compile(
    r"""(?P<kept> `[^`]*` | "[^"\n]*" )
    | (?P<number> (?<![\w.]) \d+ (?:\.\d+)? (?![\w.]*\w) )
    | (?P<name> (?<!\w) [A-Za-z]+ \d? (?: _ (?: \([^()\s]*\) | [A-Za-z]{1,2} | \d ) (?!\w) )? (?![\w\[]) )
    | (?P<prime> (?<=[\w)\]]) '{1,2} (?=[ \w()\[\]^.]) (?!s\b) )
    | (?P<index> (?<=\)) _ \w{1,2} \b )
    | (?P<sign> \.\.\. | (?<=\b[a-z]) \. (?=[a-z]\b) | \|\| | \+= | -= | \+- | <= | >= | [-+=<>/^|,;()\[\]] )
    | (?P<space> [ \n]+ )
    | (?P<other> \w+ | . )""",
    re.VERBOSE,
)
PIECE = re.compile(
    r"ROOT<<|\^<<|>>|[A-Za-z]+\d?(?:_(?:\([^()]*\)|\w+))?|_\w+|\d+(?:\.\d+)?(?:/\d+)?|\.{3}|\|\||[<>+-]=|\+-|'+|\S"
)
LETTERS = {"alpha", "beta", "gamma", "delta", "eta", "lambda", "phi", "pi", "psi", "rho", "sigma", "Sigma", "theta"}
FUNCTIONS = {"cos", "exp", "ln", "log", "max", "min"}
QUANTITIES = {
    *("asked", "class", "Cov", "deviance", "dffits", "eps", "exponent", "forgetting", "information", "leak", "loss"),
    *("mean", "parameters", "pearson", "penalty", "power", "rate", "regularization", "shape", "sign", "sqrt"),
    *("standardized", "studentized", "sum", "terms", "threshold", "value", "VIF", "weight", "width"),
}
DERIVED = {r"\phi", "L", "g", "m", "s", r"\mathrm{loss}"}  # whose prime is a derivative, not a transpose
SIGNS = {"<=": r"\le", ">=": r"\ge", "<": r"\lt", ">": r"\gt", "||": r"\|", "[": r"\lbrack", "]": r"\rbrack"}
SIGNS |= {
    "+-": r"\pm",
    "...": r"\ldots",
    ".": r"\cdot",
    "TIMES": r"\times",
    "ROOT<<": r"\sqrt{",
    "^<<": "^{",
    ">>": "}",
}
SHOWS = re.compile(
    r"\^|\w'|_\w|_\(|\|\||\+=|-=|sqrt\(|exp\(|\bln\b|\bw0\b|(?<!\w)\w [=<>]=? [^,]*[-+/(]"
    r"|\b(?:eta|phi|lambda|rho|sigma|Sigma|theta)\b"
)
WORD = "a|I|class|deviance|information|loss|mean|parameters|penalty|power|rate|shape|sum|terms|value|width"
ENDS = re.compile(
    rf"^[\s,;=/^)\]+<>]+|^(?:A|{WORD})\s+(?=[\w(|])|[\s,;=/^(\[+<>-]+$|(?:^|(?<=[\w)\]])\s)(?:{WORD})$|^-$"
)


def marked(text: str) -> str:
    r"""Return prose with its formulas as TeX, each between `\(` and `\)`."""
    out, run = "", ""
    for found in [*TOKEN.finditer(text), None]:
        if found and is_part(found, run):
            run += found[0]
        else:
            out, run = out + formula(run) + (found[0] if found else ""), ""
    return out


def is_part(found: re.Match[str], run: str) -> bool:
    """Whether a token goes on with a formula, or may begin one; lists go on inside brackets."""
    kind, token = found.lastgroup, found[0]
    if kind == "name":
        stem = token.partition("_")[0]
        return bool(re.fullmatch(r"[A-Za-z]\d?", stem)) or stem in LETTERS | FUNCTIONS | QUANTITIES
    if token in (",", ";", ")", "]", "..."):
        return len(re.findall(r"[(\[]", run)) > len(re.findall(r"[)\]]", run))
    return kind in ("number", "prime", "index", "sign") or (kind == "space" and bool(run))


def formula(run: str) -> str:
    """Return a run as TeX, if it is a formula, between the words that it may begin and end with."""
    start, end = 0, len(run)
    while found := ENDS.search(run[start:end]):
        start, end = (start + found.end(), end) if found.start() == 0 else (start, start + found.start())
    inner = run[start:end]
    balanced = all(inner.count(a) == inner.count(b) for a, b in ("()", "[]")) and inner.count("|") % 2 == 0
    return rf"{run[:start]}\({tex(inner)}\){run[end:]}" if balanced and SHOWS.search(inner) else run


def tex(run: str) -> str:
    """Return a formula as TeX."""
    run = re.sub(r"(?<=[a-z]{2}) x (?=[a-z]{2}|\()|(?<=\d) x (?=\()", " TIMES ", run)
    run = re.sub(r"sqrt\(((?:[^()]|\((?:[^()]|\([^()]*\))*\))*)\)", r"ROOT<<\1>>", run)
    run = re.sub(r"\^(?:\(([^()]*)\)|(-?\w+))", lambda found: f"^<<{found[1] or found[2]}>>", run)
    out: list[str] = []
    before = ""
    for piece in PIECE.findall(run):
        shown = one(piece, before)
        out.append(rf"\, {shown}" if is_apart(before, shown) else shown)
        before = shown
    return " ".join(out)


def is_apart(before: str, shown: str) -> bool:
    """Whether a space stands between two pieces: one is a word and the other a word or a letter."""
    words = [piece.startswith((r"\mathrm", r"\ln", r"\log")) for piece in (before, shown)]
    return (words[0] and (words[1] or shown[0].isalpha())) or (words[1] and bool(re.search(r"^\w|\w}$", before)))


def one(piece: str, before: str) -> str:
    """Return a piece as TeX, after the one before it."""
    if piece in SIGNS:
        return SIGNS[piece]
    if re.fullmatch(r"\d+/\d+", piece):
        return r"\frac{{{}}}{{{}}}".format(*piece.split("/"))
    if piece[0] == "'":
        return piece if before in DERIVED else r"^{\top}"
    stem, _, index = piece.partition("_")
    if re.fullmatch(r"[A-Za-z]\d", stem):
        stem, index = stem[0], stem[1]
    if stem in LETTERS or stem in FUNCTIONS or stem == "sum":
        stem = f"\\{stem}"
    elif len(stem) > 1 and stem.isalpha():
        stem = rf"\mathrm{{{stem}}}"
    return f"{stem}_{{{index.strip('()')}}}" if index else stem
