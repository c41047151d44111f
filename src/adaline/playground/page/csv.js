// Tables pasted or dropped: fields by commas, semicolons or tabs, quoted or not. Names are shown as text and run nothing.
export const MOST_ROWS = 20000, MOST_COLUMNS = 500;
const MISSING = new Set(["", "na", "n/a", "nan", "null", "none", "?"]);
const missing = (cell) => MISSING.has(cell.toLowerCase());

export function parse(text) {
  const first = text.slice(0, 5000).split(/\r?\n/)[0];
  const mark = [",", ";", "\t"].map((one) => [first.split(one).length, one]).sort((a, b) => b[0] - a[0])[0][1];
  const rows = [];
  let row = [], cell = "", quoted = false;
  for (let i = 0; i <= text.length; i++) {
    const c = text[i];
    if (quoted) {
      if (c === '"' && text[i + 1] === '"') { cell += '"'; i++; }
      else if (c === '"' || c === undefined) quoted = false;
      else cell += c;
      if (c !== undefined) continue;
    }
    if (c === '"' && !cell) quoted = true;
    else if (c === mark || c === "\n" || c === undefined) {
      row.push(cell.trim());
      cell = "";
      if (c !== mark) { if (row.some((one) => one !== "")) rows.push(row); row = []; }
      if (rows.length > MOST_ROWS + 1) break;
    } else if (c !== "\r") cell += c;
  }
  if (rows.length < 2) return null;
  const wide = rows[0].length > MOST_COLUMNS;
  rows[0].length = Math.min(rows[0].length, MOST_COLUMNS);
  const number = (cell) => (missing(cell) ? NaN : Number(mark === "," ? cell : cell.replace(",", "."))); // 1,5 is a number too
  const isNumber = (cell) => Number.isFinite(number(cell));
  const column = (body, k) => {
    const values = body.map((one) => one[k] ?? "");
    return { values, numbers: values.map(number), numeric: values.every((one) => missing(one) || isNumber(one)) && values.some(isNumber) };
  };
  // A first row of names has no number, or a word above a column of numbers.
  const below = rows[0].map((_, k) => column(rows.slice(1), k));
  const headed = rows[0].every((one) => !isNumber(one)) || rows[0].some((one, k) => !missing(one) && !isNumber(one) && below[k].numeric);
  const columns = rows[0].map((name, k) => ({ ...(headed ? below[k] : column(rows, k)), name: (headed && name) || `x${k}` }));
  const body = headed ? rows.slice(1) : rows;
  return { columns, rows: Math.min(body.length, MOST_ROWS), long: body.length > MOST_ROWS, wide };
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
  const classes = [...counts.entries()].sort((p, q) => q[1] - p[1]).slice(0, 5).map(([name]) => name).sort();
  const kept = [];
  for (let i = 0; i < table.rows; i++) {
    const k = label ? classes.indexOf(label.values[i]) : 0;
    if (Number.isFinite(x.numbers[i]) && Number.isFinite(y.numbers[i]) && k >= 0) kept.push([x.numbers[i], y.numbers[i], k]);
  }
  const a = spread(kept.map((one) => one[0]), 3.4), b = spread(kept.map((one) => one[1]), 2.5);
  return { points: kept.map(([, , k], i) => [a[i], b[i], k]), classes };
}
