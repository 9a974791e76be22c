// Keeps a page of the board up to date, part by part, and steps with arrow keys. Everything can be read without it.
const board = () => document.getElementById("board");
const parts = (root) => [...root.querySelectorAll("[data-part]")];

// What the server sent of each part last: what a reader has opened since is no change.
let received = new Map();
const remember = () => { received = new Map(parts(document).map((part) => [part.id, part.outerHTML])); };

function keepState(old, fresh) {
  for (const item of fresh.querySelectorAll("details[id]")) {
    const before = old.querySelector(`#${CSS.escape(item.id)}`);
    if (before) item.open = before.open;
  }
}

function scrolled(root) {
  return [...root.querySelectorAll("[id]")].filter((item) => item.scrollLeft || item.scrollTop)
    .map((item) => [item.id, item.scrollLeft, item.scrollTop]);
}

function focused() {
  const active = document.activeElement;
  if (!active || !board().contains(active)) return () => {};
  const href = active.getAttribute("href");
  const selector = active.id ? `#${CSS.escape(active.id)}` : href ? `a[href="${CSS.escape(href)}"]` : "";
  return () => {
    if (selector && !active.isConnected) board().querySelector(selector)?.focus({ preventScroll: true });
  };
}

function exchange(old, fresh) {
  const places = scrolled(old);
  keepState(old, fresh);
  old.replaceWith(fresh);
  for (const [id, left, top] of places) {
    const item = document.getElementById(id);
    if (item) { item.scrollLeft = left; item.scrollTop = top; }
  }
}

async function refresh() {
  const answer = await fetch(location.href, { headers: { accept: "text/html" } });
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const next = page.getElementById("board");
  if (!next) return;
  const sent = new Map(parts(next).map((part) => [part.id, part.outerHTML]));
  const focus = focused();
  const before = board().dataset.announce;
  document.title = page.title;
  if ([...sent.keys()].join() === [...received.keys()].join()) {
    for (const part of parts(next)) {
      if (sent.get(part.id) !== received.get(part.id)) exchange(document.getElementById(part.id), part);
    }
  } else {
    exchange(board(), next);
  }
  received = sent;
  board().dataset.events = next.dataset.events;
  board().dataset.version = next.dataset.version;
  board().dataset.announce = next.dataset.announce;
  if (next.dataset.announce !== before) document.getElementById("announcement").textContent = next.dataset.announce;
  focus();
  if (next.dataset.events !== listened) listen();
}

let source = null;
let listened = ""; // where the page hears of news
let busy = Promise.resolve();

function listen() {
  source?.close();
  source = null;
  listened = board().dataset.events;
  if (document.hidden || !listened) return;
  source = new EventSource(listened);
  const connection = document.getElementById("connection");
  source.onopen = () => { connection.hidden = true; };
  source.onerror = () => {
    connection.hidden = false;
    connection.textContent = "The connection is lost; the page tries to get it back.";
    if (source?.readyState === EventSource.CLOSED) setTimeout(listen, 2000);
  };
  source.onmessage = (event) => {
    busy = busy.then(() => (event.data === board().dataset.version ? null : refresh())).catch(() => {});
  };
}

const STEPS = { ArrowLeft: ["prev", "first"], ArrowRight: ["next", "last"] };

document.addEventListener("keydown", (event) => {
  const step = STEPS[event.key];
  if (!step || event.altKey || event.ctrlKey || event.metaKey) return;
  const target = event.target;
  if (target.matches("input, select, textarea") || (target.matches(".wide") && target.scrollWidth > target.clientWidth)) return;
  const link = document.querySelector(`[data-step="${step[event.shiftKey ? 1 : 0]}"]`);
  if (link) { event.preventDefault(); link.click(); }
});

document.addEventListener("visibilitychange", listen);
remember();
listen();
