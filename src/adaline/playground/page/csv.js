// Tables pasted or dropped: fields by commas, semicolons, tabs or runs of spaces, quoted or not. Names are shown as text
// and run nothing.
export const MOST_ROWS = 20000, MOST_COLUMNS = 500;
export const MOST_CLASSES = 5; // that the board shows
const MOST_LABELS = 20; // different values of a column that are guessed to be classes
const TARGET = /^(class|classes|target|label|labels|species|outcome|diagnosis|y)$/i;
const SAMPLE = 5000; // letters at the beginning that show what parts the fields
const MISSING = new Set(["", "na", "n/a", "nan", "null", "none", "?"]);
const DECIMAL = /^[+-]?\d*,\d+(e[+-]?\d+)?$/i; // 1,5
const COMMA_INSIDE = /^[+-]?\d+,\d+(e[+-]?\d+)?$/i; // surely one number, where ",5" may be the end of one field and the next
const missing = (cell) => MISSING.has(cell.toLowerCase());
const blank = (c) => c === " " || c === "\t";

// The number of a cell: a comma is its decimal point where commas part no fields.
function number(cell, mark) {
  if (missing(cell)) return NaN;
  const plain = cell.replace("−", "-");
  return Number(mark !== "," && DECIMAL.test(plain) ? plain.replace(",", ".") : plain);
}

// The fields of each line that is not empty; of the mark " " any run of blanks parts them.
function split(text, mark) {
  const rows = [];
  let row = [], cell = "", quoted = false, begun = false;
  const field = () => {
    if (begun || mark !== " ") row.push(cell.trim());
    cell = "";
    begun = false;
  };
  for (let i = 0; i <= text.length && rows.length <= MOST_ROWS + 1; i++) {
    const c = text[i];
    if (quoted && c !== undefined) {
      if (c !== '"') cell += c;
      else if (text[i + 1] === '"') { cell += '"'; i++; }
      else quoted = false;
    } else if (c === '"' && !begun) {
      quoted = begun = true;
      cell = "";
    } else if (c === "\n" || c === undefined) {
      field();
      if (row.some((one) => one !== "")) rows.push(row);
      row = [];
    } else if (mark === " " ? blank(c) : c === mark) field();
    else {
      cell += c;
      begun ||= !blank(c);
    }
  }
  return rows;
}

// What parts the fields: of tabs, semicolons and commas that with the largest share of numbers. Spaces part them where
// none of these does, or where every comma is in a number and they part two columns of numbers or more.
function markOf(text) {
  const end = text.length > SAMPLE ? text.lastIndexOf("\n", SAMPLE) : text.length;
  const sample = text.slice(0, end > 0 ? end : SAMPLE);
  const seen = (mark) => {
    const rows = split(sample, mark), cells = rows.flat();
    const parts = rows.filter((one) => one.length > 1).length >= 0.8 * rows.length;
    return { mark, rows, parts, cells, share: cells.filter((one) => Number.isFinite(number(one, mark))).length / cells.length };
  };
  const found = ["\t", ";", ","].map(seen).filter((one) => one.parts).sort((a, b) => b.share - a.share);
  const spaces = seen(" ");
  const columns = () => spaces.rows[0].filter((_, k) => spaces.rows.slice(1).every((row) => Number.isFinite(number(row[k] ?? "", " "))));
  const decimal = () => spaces.cells.every((one) => !one.includes(",") || COMMA_INSIDE.test(one)) && columns().length > 1;
  const free = found.every((one) => one.mark === ",") && (!found.length || decimal());
  return (spaces.parts && free ? spaces : found[0])?.mark ?? ",";
}

export function parse(given) {
  const text = given.replace(/\r\n?/g, "\n"), mark = markOf(text), rows = split(text, mark);
  if (rows.length < 2) return null;
  const after = rows.slice(1);
  const isNumber = (cell) => Number.isFinite(number(cell, mark));
  const named = rows[0].every((one) => !isNumber(one)) && after.every((row) => row.length === rows[0].length + 1 && row.at(-1) !== "");
  if (named) rows[0].unshift(""); // names of rows have no name
  const wide = rows[0].length > MOST_COLUMNS;
  rows[0].length = Math.min(rows[0].length, MOST_COLUMNS);
  const column = (body, k) => {
    const values = body.map((one) => one[k] ?? "");
    return { values, numbers: values.map((one) => number(one, mark)), numeric: values.every((one) => missing(one) || isNumber(one)) && values.some(isNumber) };
  };
  // A first row of names has no number, or a word above a column of numbers.
  const below = rows[0].map((_, k) => column(after, k));
  const headed = rows[0].every((one) => !isNumber(one)) || rows[0].some((one, k) => !missing(one) && !isNumber(one) && below[k].numeric);
  const columns = rows[0].map((name, k) => ({ ...(headed ? below[k] : column(rows, k)), name: (headed && name) || `x${k}` }));
  const body = headed ? after : rows;
  return { columns, rows: Math.min(body.length, MOST_ROWS), long: body.length > MOST_ROWS, wide };
}

// Which columns to begin with: one for the classes, or none, and two of numbers for the axes. Ids are none of them.
export function chosen(table) {
  const { columns, rows } = table;
  const known = columns.map(({ values, numbers, numeric }) => {
    const given = values.slice(0, rows).filter((one) => !missing(one)), levels = [...new Set(given)];
    const places = levels.map((one) => numbers[values.indexOf(one)]).sort((p, q) => p - q);
    const counted = numeric && places.every((one, i) => one === places[0] + i); // whole numbers without a gap
    return {
      id: levels.length === given.length && levels.length > MOST_CLASSES && (!numeric || counted), // never twice
      label: levels.length > 1 && levels.length <= Math.min(MOST_LABELS, Math.max(MOST_CLASSES, given.length / 2)),
      code: counted && places.length <= MOST_CLASSES && (places[0] === 0 || places[0] === 1), // 0, 1, 2
    };
  });
  const is = (k) => k >= 0 && known[k].label && (!columns[k].numeric || known[k].code);
  const where = (test) => columns.findIndex((one, k) => is(k) && test(one));
  const guesses = [where((one) => TARGET.test(one.name)), columns.length - 1, where((one) => !one.numeric), 0];
  const label = guesses.find(is) ?? -1;
  const numeric = columns.map((_, k) => k).filter((k) => columns[k].numeric);
  const axes = [...numeric.filter((k) => k !== label && !known[k].id), ...numeric.filter((k) => k !== label && known[k].id), label];
  return { label, axes: axes.slice(0, 2) };
}

// Numbers, scaled to the board.
const spread = (values, half) => {
  const low = values.reduce((a, b) => Math.min(a, b), Infinity), high = values.reduce((a, b) => Math.max(a, b), -Infinity);
  const scale = high > low ? (2 * half) / (high - low) : 1;
  return values.map((one) => Math.round(1000 * ((one - (low + high) / 2) * scale)) / 1000);
};

// Points from two columns and, for classes, a third; rows without a number or a class are left out.
export function pointsOf(table, x, y, label) {
  const counts = new Map();
  if (label) for (const one of label.values.slice(0, table.rows)) if (!missing(one)) counts.set(one, (counts.get(one) ?? 0) + 1);
  const value = new Map(label?.values.map((one, i) => [one, label.numbers[i]]));
  const inOrder = label?.numeric ? (p, q) => value.get(p) - value.get(q) : undefined;
  const classes = [...counts.entries()].sort((p, q) => q[1] - p[1]).slice(0, MOST_CLASSES).map(([name]) => name).sort(inOrder);
  const kept = [];
  for (let i = 0; i < table.rows; i++) {
    const k = label ? classes.indexOf(label.values[i]) : 0;
    if (Number.isFinite(x.numbers[i]) && Number.isFinite(y.numbers[i]) && k >= 0) kept.push([x.numbers[i], y.numbers[i], k]);
  }
  const a = spread(kept.map((one) => one[0]), 3.4), b = spread(kept.map((one) => one[1]), 2.5);
  return { points: kept.map(([, , k], i) => [a[i], b[i], k]), classes };
}
