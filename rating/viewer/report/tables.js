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

function makeSortable(table) {
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const headings = [...table.tHead.rows[0].cells];
  headings.forEach((heading, column) => {
    if (heading.textContent === "") return;
    const isText = heading.classList.contains("text") && heading.textContent !== RANK;
    const press = button(heading.textContent, () => {
      const before = heading.getAttribute("aria-sort");
      const direction = before === null ? 1 : before === "ascending" ? -1 : 0;
      for (const other of headings) other.removeAttribute("aria-sort");
      if (direction) heading.setAttribute("aria-sort", direction > 0 ? "ascending" : "descending");
      const keys = new Map(rows.map((row) => [row, sortKey(row.cells[column], isText)]));
      const order = (a, b) => {
        const [one, two] = [keys.get(a), keys.get(b)];
        return one.isEmpty - two.isEmpty || direction * compareKeys(one, two);
      };
      body.replaceChildren(...(direction ? rows.toSorted(order) : rows));
    });
    heading.replaceChildren(press);
  });
}

for (const table of document.querySelectorAll("table.figures")) makeSortable(table);
