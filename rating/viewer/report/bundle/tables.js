// Tables are sorted by the heading that is pressed: upwards, downwards, as they were.
const NUMBER = /^[^\d+-]*([+-]?\d[\d,]*(?:\.\d+)?)/;
const RANK = "rank"; // the one column of texts that are numbers

// Returns what a cell is sorted by: the first number in it, or its text.
function sortKey(cell, isText) {
  const text = cell.textContent.trim();
  const number = isText ? undefined : NUMBER.exec(text)?.[1];
  return { isEmpty: text === "", number: number === undefined ? undefined : Number(number.replaceAll(",", "")), text };
}

function compareKeys(a, b) {
  if (a.number !== undefined && b.number !== undefined) return a.number - b.number;
  return a.text.localeCompare(b.text);
}

const DIRECTIONS = { 1: "ascending", "-1": "descending" };
const written = new WeakMap(); // the rows of each table, as they were written

// Sorts by a column upwards (1), downwards (-1) or not at all (0).
function sortBy(table, column, direction) {
  const headings = [...table.tHead.rows[0].cells];
  const heading = headings[column];
  for (const other of headings) other.removeAttribute("aria-sort");
  if (direction) heading.setAttribute("aria-sort", DIRECTIONS[direction]);
  const isText = heading.classList.contains("text") && heading.textContent !== RANK;
  const rows = written.get(table);
  const keys = new Map(rows.map((row) => [row, sortKey(row.cells[column], isText)]));
  const order = (a, b) => {
    const [one, two] = [keys.get(a), keys.get(b)];
    return one.isEmpty - two.isEmpty || direction * compareKeys(one, two);
  };
  table.tBodies[0].replaceChildren(...(direction ? rows.toSorted(order) : rows));
}

function directionOf(heading) {
  return { ascending: 1, descending: -1 }[heading.getAttribute("aria-sort")] ?? 0;
}

function makeSortable(table) {
  written.set(table, [...table.tBodies[0].rows]);
  [...table.tHead.rows[0].cells].forEach((heading, column) => {
    if (heading.textContent === "") return;
    const next = { 0: 1, 1: -1, "-1": 0 };
    heading.replaceChildren(button(heading.textContent, () => sortBy(table, column, next[directionOf(heading)])));
  });
}

for (const table of document.querySelectorAll("table.figures")) makeSortable(table);
