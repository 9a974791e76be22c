// Keeps the page of a run up to date. What a reader has opened, sorted, scrolled or chosen since stays as it is.
const partsOf = (root) => new Map([...root.querySelectorAll("[data-part]")].map((part) => [part.id, part]));
const sentOf = (parts) => new Map([...parts].map(([id, part]) => [id, part.outerHTML]));
const controlsOf = (root) => [...root.querySelectorAll("a, button, summary")];

// What the server sent of each part last: the scripts after this one change them.
let received = sentOf(partsOf(document));

function pairs(old, fresh, selector) {
  const before = old.querySelectorAll(selector);
  return [...fresh.querySelectorAll(selector)].slice(0, before.length).map((item, place) => [before[place], item]);
}

function exchange(old, fresh) {
  fresh.hidden = old.hidden;
  for (const table of fresh.querySelectorAll("table.figures")) makeSortable(table);
  for (const [before, table] of pairs(old, fresh, "table.figures")) {
    const column = [...before.tHead.rows[0].cells].findIndex(directionOf);
    if (column >= 0 && column < table.tHead.rows[0].cells.length) sortBy(table, column, directionOf(before.tHead.rows[0].cells[column]));
  }
  for (const [before, item] of pairs(old, fresh, "details")) item.open = before.open;
  const scrolled = pairs(old, fresh, ".wide").map(([before, item]) => [item, before.scrollLeft]);
  const focused = controlsOf(old).indexOf(document.activeElement);
  old.replaceWith(fresh);
  for (const [item, left] of scrolled) item.scrollLeft = left;
  controlsOf(fresh)[focused]?.focus({ preventScroll: true });
}

async function refresh() {
  const answer = await fetch(location.pathname, { headers: { accept: "text/html" } });
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const next = partsOf(page);
  if (!next.size) throw new Error("expected a page of a run"); // too many connections, or a proxy
  const sent = sentOf(next);
  const now = partsOf(document);
  const state = byId("state").textContent;
  let before;
  for (const [id, part] of next) {
    if (!now.has(id)) {
      if (before?.closest("main")) before.after(part);
      else document.querySelector("main").prepend(part);
    } else if (sent.get(id) !== received.get(id)) exchange(now.get(id), part);
    before = byId(id);
  }
  for (const [id, part] of now) if (!next.has(id)) part.remove();
  received = sent;
  document.title = page.title;
  document.body.dataset.version = page.body.dataset.version;
  if (byId("state").textContent !== state) byId("announcement").textContent = byId("state").textContent;
  showTab({ isNews: true });
  await matchPage.update();
}

let stream;
let latest; // version of which the server spoke last
let busy;

function update() {
  const work = () => (latest === document.body.dataset.version ? undefined : refresh());
  busy = busy.then(work).catch(() => {
    setTimeout(update, 2000);
  });
}

function listen() {
  stream?.close();
  if (document.hidden) return;
  const connection = byId("connection");
  stream = new EventSource(`${document.body.dataset.home}/events`);
  stream.onopen = () => {
    connection.hidden = true;
  };
  stream.onerror = () => {
    connection.hidden = false;
    connection.textContent = "The connection is lost; the page tries to get it back.";
    if (stream.readyState === EventSource.CLOSED) setTimeout(listen, 2000);
  };
  stream.onmessage = (event) => {
    latest = event.data;
    update();
  };
}

document.addEventListener("DOMContentLoaded", () => {
  busy = started.catch(() => {});
  document.addEventListener("visibilitychange", listen);
  listen();
});
