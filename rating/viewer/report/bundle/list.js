// The list of matches, a page of rows at a time.
const COLUMNS = [
  ["environment", "environment"],
  ["number", "number"],
  ["policies", "seats"],
  ["result", "result"],
  ["turns", "turns"],
  ["bad", "bad replies"],
  ["cost", "cost"],
  ["id", "id"],
];
const TEXTS = ["environment", "policies", "result"];
const LONGEST_REASON = 120;

// The first line of an error, or its beginning: all of it stands with the match.
function cut(error) {
  const [line] = error.split("\n", 1);
  const kept = Array.from(line).slice(0, LONGEST_REASON).join("");
  return kept === error ? error : `${kept} ...`;
}

class MatchList {
  // go(changes) is called with what somebody chooses.
  constructor(go) {
    this.go = go;
    this.found = [];
    this.listen();
  }

  // The address of a match, or of a turn in it, with what else is chosen.
  address(changes) {
    return writeChoice({ ...this.choice, turn: "", ...changes });
  }

  // Takes the matches to list, in place of those before.
  use(matches) {
    this.matches = matches;
    this.selection = new Selection(matches);
    this.key = undefined;
    const names = [...new Set(matches.values.policies.flat())].sort();
    this.fill("environment", [...matches.values.environment].sort());
    this.fill("policy", names);
    this.fill("other", names);
    this.fill("result", ["forfeit", ...new Set(matches.results.map(({ status }) => status))].sort());
    this.fill("replies", matches.kinds, (kind) => kind.replaceAll("_", " "));
  }

  // Adds to a control what cannot be chosen in it yet.
  fill(id, values, label = (value) => value) {
    const known = new Set([...byId(id).options].map((option) => option.value));
    for (const value of values) {
      if (known.has(value)) continue;
      const option = element("option", label(value));
      option.value = value;
      byId(id).append(option);
    }
  }

  listen() {
    for (const id of ["environment", "policy", "other", "result", "replies", "rows"]) {
      byId(id).addEventListener("change", () => this.go({ [id]: byId(id).value, page: "1" }));
    }
    byId("search").addEventListener("input", () => this.go({ search: byId("search").value, page: "1" }, true));
    byId("browse").addEventListener("submit", (event) => event.preventDefault());
    byId("clear").addEventListener("click", () => this.go(Object.fromEntries(CHOICES.map((name) => [name, ""]))));
    for (const step of ["first", "previous", "next", "last"]) {
      byId(step).addEventListener("click", () => this.go({ page: String(this.pageAfter(step)) }));
    }
    byId("list").addEventListener("keydown", (event) => this.press(event));
    byId("browse").hidden = false;
  }

  pageAfter(step) {
    return { first: 1, previous: this.page - 1, next: this.page + 1, last: this.pages }[step];
  }

  // Shows what is chosen; what is listed is worked out anew only if it may have changed.
  show(choice) {
    this.choice = choice;
    const key = JSON.stringify(CHOICES.filter((name) => !["rows", "page", "match", "turn"].includes(name)).map((name) => choice[name]));
    if (key !== this.key) {
      this.found = this.selection.list(choice);
      this.positions = new Map(this.found.map((match, position) => [match, position]));
      this.key = key;
    }
    const rows = Math.min(Math.max(Number.parseInt(choice.rows, 10) || ROWS, 1), 1000);
    this.pages = Math.max(Math.ceil(this.found.length / rows), 1);
    const position = this.positions.get(this.matches.byId.get(choice.match)) ?? 0;
    const wanted = Number.parseInt(choice.page, 10) || Math.floor(position / rows) + 1;
    this.page = Math.min(Math.max(wanted, 1), this.pages);
    const begin = (this.page - 1) * rows;
    this.tell(choice, begin, Math.min(begin + rows, this.found.length));
    byId("list").replaceChildren(this.table(choice, this.found.slice(begin, begin + rows)));
  }

  tell(choice, begin, end) {
    const { count } = this.matches;
    const many = this.found.length === count ? `${count} matches` : `${this.found.length} of ${count} matches`;
    byId("shown").textContent = `${many}${this.found.length ? `, ${begin + 1} to ${end} shown` : ""}`;
    byId("page").textContent = `Page ${this.page} of ${this.pages}`;
    byId("first").disabled = byId("previous").disabled = this.page === 1;
    byId("last").disabled = byId("next").disabled = this.page === this.pages;
    for (const id of ["environment", "policy", "other", "result", "replies"]) byId(id).value = choice[id];
    byId("rows").value = choice.rows || String(ROWS);
    if (document.activeElement !== byId("search")) byId("search").value = choice.search;
  }

  table(choice, shown) {
    const table = element("table");
    table.append(element("caption", "Matches", "unseen"));
    const head = table.appendChild(element("thead")).appendChild(element("tr"));
    const columns = COLUMNS.filter(([name]) => name !== "cost" || this.matches.hasCosts);
    for (const [name, title] of columns) {
      const cell = head.appendChild(element("th"));
      cell.scope = "col";
      if (TEXTS.includes(name)) cell.className = "text";
      const isSorted = choice.sort === name;
      if (isSorted) cell.setAttribute("aria-sort", choice.direction === "down" ? "descending" : "ascending");
      const sort = cell.appendChild(button(title, () => this.sort(name, choice)));
      if (isSorted) sort.append(element("span", choice.direction === "down" ? " ▼" : " ▲"));
      sort.lastElementChild?.setAttribute("aria-hidden", "true");
      sort.dataset.column = name;
    }
    const body = table.appendChild(element("tbody"));
    for (const match of shown) body.append(this.row(match, columns, choice));
    return table;
  }

  // By a column upwards, then downwards, then as the matches were played again.
  sort(name, choice) {
    const isSorted = choice.sort === name;
    const changes = isSorted && choice.direction ? { sort: "", direction: "" } : { sort: name, direction: isSorted ? "down" : "" };
    this.go({ ...changes, page: "1" });
    byId("list").querySelector(`button[data-column="${name}"]`).focus();
  }

  row(match, columns, choice) {
    const { matches } = this;
    const id = matches.ids[match];
    const row = element("tr", undefined, id === choice.match ? "row chosen" : "row");
    const link = element("a", String(matches.columns.number[match]));
    link.href = this.address({ match: id });
    if (id === choice.match) link.setAttribute("aria-current", "true");
    const { error } = matches.value("result", match);
    const cells = {
      environment: matches.value("environment", match),
      policies: matches.value("policies", match).join("  v  "),
      result: matches.describe(match) + (error ? `: ${cut(error)}` : ""),
      turns: String(matches.columns.turns[match]),
      bad: String(matches.columns.bad[match] || ""),
      cost: matches.value("cost", match),
      id,
    };
    for (const [name] of columns) {
      const cell = row.appendChild(element("td", cells[name], TEXTS.includes(name) ? "text" : ""));
      if (name === "number") cell.append(link);
      if (name === "bad") for (const trouble of matches.troubles(match)) cell.append(" ", element("span", trouble, "mark"));
    }
    row.addEventListener("click", (event) => event.target === link || link.click());
    return row;
  }

  press(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const links = [...byId("list").querySelectorAll("a")];
    const place = links.indexOf(document.activeElement);
    if (!step || place < 0) return;
    event.preventDefault();
    links[place + step]?.focus();
  }

  // The matches before and after one in the list, and where it stands there, from 0; nothing if it is not listed.
  around(match) {
    const position = this.positions.get(match);
    return position === undefined ? {} : { position, previous: this.found[position - 1], next: this.found[position + 1] };
  }
}
