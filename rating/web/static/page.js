// Keeps a page up to date, and makes what can be pointed at in a picture a reply. Everything works without it.
"use strict";

const live = () => document.getElementById("live");

function pointable() {
  for (const group of document.querySelectorAll("svg [data-reply]")) {
    group.addEventListener("click", () => send(group.dataset.reply));
  }
}

function send(reply) {
  const form = document.getElementById("typed");
  if (!form) return;
  form.elements.reply.value = reply;
  form.requestSubmit();
}

async function refresh(version) {
  const answer = await fetch(location.href, { headers: { accept: "text/html" } });
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
  const next = fresh.getElementById("live");
  if (!answer.ok || !next) return;
  const typed = document.getElementById("reply")?.value ?? "";
  const same = live().dataset.question === next.dataset.question;
  document.title = fresh.title;
  live().replaceWith(next);
  const box = document.getElementById("reply");
  if (box && typed && same) box.value = typed;
  if (!same) document.getElementById("announcement").textContent = document.getElementById("state")?.textContent ?? "";
  pointable();
}

if (live()?.dataset.events) {
  const source = new EventSource(live().dataset.events);
  source.onmessage = (event) => { if (event.data !== live().dataset.version) refresh(event.data); };
}
pointable();
