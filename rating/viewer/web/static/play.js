// Keeps a page up to date, sends replies without leaving it, and makes what can be pointed at in a picture a reply.
// Everything works without it.
"use strict";

const LOST = "There is no connection to the server. This page goes on by itself when there is one again; what you have typed stays.";
const NOT_SENT = "Your reply was not sent, since there is no connection to the server. It stays in the page: send it again when this line has gone.";

const REFUSED = "Your reply was not sent, but stays in the page. The server says: ";

const find = (id) => document.getElementById(id);
const fields = () => document.querySelectorAll("#typing textarea, #typing input:not([type])");

const PARTS = ["heading", "state", "end", "refusal", "others", "picture", "moves", "text", "typing", "rules", "matches"];

let source = null;
let latest = ""; // version that the server spoke of last
let asking = 0; // timer of a page that is hidden
let losing = 0; // timer of a lost connection
let drafts = {}; // what has been typed and not been sent, by id of the field
let leftFrom = ""; // part of the page from which a reply was sent
let sending = false;
let refreshing = false;
let again = false; // whether there is something newer than what is being fetched

function connected(message = "") {
  const line = find("connection");
  if (line.textContent !== message) line.textContent = message;
  line.hidden = !message;
}

function refused(words, before = "The server says: ") {
  if (!words) return;
  connected(before + words);
  announce(before + words);
}

function announce(text) {
  if (find("announcement").textContent !== text) find("announcement").textContent = text;
}

// What is spoken when it changes.
function said() {
  return [...document.querySelectorAll("#state, #refusal")].map((part) => part.textContent.trim()).filter(Boolean).join(" ");
}

// Finds in this page what had the focus in the page before.
function sameControl(before) {
  if (!before || before === document.body) return null;
  if (before.id) return find(before.id);
  const rivals = document.querySelectorAll(before.tagName.toLowerCase());
  return [...rivals].find((each) => each.name === before.name && each.value === before.value && each.textContent === before.textContent);
}

function keepFocus(before) {
  if (document.body.contains(before) && document.activeElement === before) return;
  const same = sameControl(before);
  if (same) {
    same.focus({ preventScroll: true });
  } else if (before && before !== document.body && !document.body.contains(before)) {
    leftFrom = before.closest("#moves") || before.tagName === "BUTTON" ? "moves" : "typing";
    find("state")?.focus({ preventScroll: true });
  }
}

// Once it is the person's move again, whoever moved by keyboard is where they moved from.
function takeFocusBack() {
  if (!leftFrom || document.activeElement !== find("state")) return;
  const next = find(leftFrom)?.querySelector("button, select, textarea, input:not([type])") ?? find("reply");
  if (next && !next.disabled) {
    next.focus({ preventScroll: true });
    leftFrom = "";
  }
}

// Shows a page; returns what the server says instead of one.
function show(html, url) {
  const fresh = new DOMParser().parseFromString(html, "text/html");
  const next = fresh.getElementById("live");
  if (!next) return (fresh.querySelector("main") ?? fresh.body).textContent.trim().replace(/\s+/g, " ") || "nothing";
  const now = find("live"), before = document.activeElement, told = said();
  for (const field of fields()) drafts[field.id] = field.value;
  document.title = fresh.title;
  const ids = (root) => [...root.querySelectorAll("[id]")].map((each) => each.id).filter((id) => PARTS.includes(id)).join();
  if (ids(now) === ids(next)) {
    for (const attribute of [...now.attributes]) now.removeAttribute(attribute.name);
    for (const attribute of next.attributes) now.setAttribute(attribute.name, attribute.value);
    for (const part of PARTS.map(find).filter(Boolean)) {
      const changed = next.querySelector(`#${part.id}`);
      if (part.id === "rules" && part.open) changed.open = true;
      const switched = changed.querySelector("#plain");
      if (switched && part.querySelector("#plain")?.open) switched.open = true;
      if (part.outerHTML !== changed.outerHTML) part.replaceWith(changed);
      if (part.id === "text" && !part.isConnected) scrollToEnd();
    }
  } else {
    now.replaceWith(next);
    scrollToEnd();
  }
  if (url && url !== location.href) history.replaceState(null, "", url);
  for (const field of fields()) {
    if (drafts[field.id] && !field.value.trim()) field.value = drafts[field.id];
  }
  keepFocus(before);
  takeFocusBack();
  if (said() !== told) announce(said());
  listen();
  return "";
}

// The end of the text says what is asked.
function scrollToEnd() {
  const text = find("text");
  if (text) text.scrollTop = text.scrollHeight;
}

async function refresh() {
  again = true;
  if (refreshing || sending) return;
  refreshing = true;
  try {
    while (again && !sending) {
      again = false;
      const answer = await fetch(location.href, { headers: { accept: "text/html" } });
      const html = await answer.text();
      if (sending) again = true;
      else refused(show(html, answer.url));
    }
  } catch {
    connected(LOST);
  } finally {
    refreshing = false;
  }
}

// Sends a form with the value of a button or of the picture, or with what is typed in the form.
async function send(form, chosen) {
  if (sending) return;
  sending = true;
  const isTyped = chosen === undefined;
  const body = new URLSearchParams(new FormData(form));
  if (!isTyped) {
    body.delete("reply");
    body.set(chosen.name, chosen.value);
  }
  try {
    const answer = await fetch(form.action, { method: "POST", body });
    const html = await answer.text();
    if (answer.ok) {
      if (isTyped) {
        for (const field of form.querySelectorAll("textarea, input:not([type])")) field.value = drafts[field.id] = "";
      }
      connected();
    }
    refused(show(html, answer.ok ? answer.url : ""), REFUSED);
  } catch {
    source?.close();
    setTimeout(listen, 1000);
    connected(NOT_SENT);
    announce(NOT_SENT);
  } finally {
    sending = false;
  }
  if (again || latest !== find("live")?.dataset.version) refresh();
}

// A browser keeps few connections to one server: pages that nobody sees ask now and then instead of listening.
function listen() {
  const live = find("live");
  clearTimeout(asking);
  if (document.hidden && live && !("ended" in live.dataset)) {
    source?.close();
    source = null;
    asking = setTimeout(() => refresh().then(listen), 5000);
    return;
  }
  if (!live || "ended" in live.dataset || !live.dataset.events) {
    source?.close();
    source = null;
    if (live && "ended" in live.dataset) connected();
    return;
  }
  if (source && source.path === live.dataset.events && source.readyState !== EventSource.CLOSED) return;
  source?.close();
  const own = source = new EventSource(live.dataset.events);
  own.path = live.dataset.events;
  own.onmessage = (event) => {
    clearTimeout(losing);
    losing = 0;
    connected();
    latest = event.data;
    if (latest !== find("live")?.dataset.version) refresh();
  };
  own.onerror = () => {
    losing ||= setTimeout(() => {
      connected(LOST);
      announce(LOST);
    }, 1500); // the server restarts between two matches
    if (own.readyState === EventSource.CLOSED) setTimeout(listen, 2000);
  };
}

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.method !== "post") return;
  event.preventDefault();
  send(form, event.submitter?.name ? event.submitter : form.elements.listed);
});

document.addEventListener("visibilitychange", () => {
  if (!document.hidden) refresh();
  listen();
});

// The second click of a double click is no answer to what the first one has led to.
document.addEventListener("click", (event) => {
  if (event.detail > 1 && event.target.closest("form button, svg [data-reply]")) {
    event.preventDefault();
    event.stopImmediatePropagation();
  }
}, true);

document.addEventListener("click", (event) => {
  const group = event.target.closest("svg [data-reply]");
  const form = find("typed");
  if (group && form) send(form, { name: "reply", value: group.dataset.reply });
});

document.documentElement.classList.add("scripted");
scrollToEnd();
listen();
