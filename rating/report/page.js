"use strict";
// Everything a model wrote reaches the page through textContent only.
const data = JSON.parse(document.getElementById("index").textContent);
const chunks = document.querySelectorAll("script.chunk");
const byId = (id) => document.getElementById(id);
const LIMIT = 2000;

// What could reorder a line or hide in it, as llmarena_envs.core.terminal has it.
const STEERING = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;
const printable = (text) => text.replace(STEERING, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`);

function element(tag, text, className) {
  const node = document.createElement(tag);
  if (text !== undefined) node.textContent = printable(text);
  if (className) node.className = className;
  return node;
}

async function unpack(number) {
  const bytes = Uint8Array.from(atob(chunks[number].textContent.trim()), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).json();
}

function describe(match) {
  if (match.status !== "finished") return match.status;
  const forfeit = match.forfeits.findIndex((kind) => kind);
  const rewards = match.rewards.map((reward) => (reward > 0 ? "+" : "") + reward).join(" / ");
  return forfeit < 0 ? rewards : `${rewards}, forfeit by ${match.policies[forfeit]} (${match.forfeits[forfeit]})`;
}

function selected() {
  const [environment, policy, status] = ["environment", "policy", "status"].map((id) => byId(id).value);
  return data.matches.filter(
    (match) =>
      (!environment || match.environment === environment) &&
      (!policy || match.policies.includes(policy)) &&
      (!status || match.status === status || (status === "forfeit" && match.forfeits.some((kind) => kind))),
  );
}

function fill() {
  const matches = selected();
  byId("shown").textContent =
    matches.length > LIMIT ? `${LIMIT} of ${matches.length} matches shown` : `${matches.length} matches`;
  const table = element("table");
  const head = table.appendChild(element("tr"));
  const costs = data.matches.some((match) => match.cost);
  const titles = ["environment", "number", "seats", "result", "turns", ...(costs ? ["cost"] : []), "id"];
  for (const title of titles) head.append(element("th", title));
  for (const match of matches.slice(0, LIMIT)) {
    const row = table.appendChild(element("tr", undefined, "row"));
    const cells = [match.environment, match.number, match.policies.join("  v  "), describe(match), match.turns];
    cells.push(...(costs ? [match.cost] : []), match.id);
    for (const text of cells) row.append(element("td", String(text)));
    const link = element("a", String(match.number)); // for who has no mouse
    link.href = `#match=${match.id}`;
    row.cells[1].replaceChildren(link);
    row.addEventListener("click", () => {
      for (const other of table.querySelectorAll(".chosen")) other.classList.remove("chosen");
      row.classList.add("chosen");
      location.hash = `match=${match.id}`;
    });
  }
  byId("list").replaceChildren(table);
}

async function show(match) {
  const { seats, story, drawn, pictures, missing, turns } = (await unpack(match.chunk))[match.place];
  const agents = data.agents[match.environment] || [];
  const policyOf = (agent) => seats[agent] || match.policies[agents.indexOf(agent)] || "";
  const view = byId("match");
  view.replaceChildren(element("h3", `Match ${match.number} of ${match.environment}: ${match.policies.join(" v ")}`));
  view.append(element("p", describe(match) + (match.error ? `: ${match.error}` : ""), match.error ? "bad" : ""));
  if (missing) view.append(element("p", `This match cannot be played again, so it is shown without pictures or story: ${missing}.`, "bad"));
  if (!drawn) view.append(element("p", `The first matches of an environment are drawn, up to ${data.drawn} turns; this is a later one.`, "dim"));
  const rules = data.rules[match.environment] || {};
  for (const agent of Object.keys(rules)) {
    const details = view.appendChild(element("details"));
    details.append(element("summary", `Rules as told to ${agent}`), element("pre", rules[agent]));
  }
  const layout = view.appendChild(element("div", undefined, pictures.length ? "drawn" : ""));
  const boxes = [];
  const go = pictures.length ? drawPositions(layout, pictures, turns, boxes) : undefined;
  const tellTurns = (place) =>
    turns.forEach((turn, index) => {
      const box = place.appendChild(tellTurn(turn, index, policyOf(turn.agent)));
      if (go) box.prepend(button("Position", () => go(index + 1)));
      boxes.push(box);
    });
  const told = layout.appendChild(element("div"));
  if (story.length) {
    const details = told.appendChild(element("details"));
    details.append(element("summary", `What was read and replied, turn by turn (${turns.length})`));
    details.addEventListener("toggle", () => tellTurns(details), { once: true });
    const speakers = [...new Set(story.map((scene) => scene.speaker))].filter(Boolean);
    for (const scene of story) told.append(tellScene(scene, speakers.indexOf(scene.speaker), policyOf(scene.speaker)));
  } else {
    tellTurns(told);
  }
  view.scrollIntoView({ behavior: "smooth" });
}

function button(label, action) {
  const made = element("button", label);
  made.type = "button";
  made.addEventListener("click", action);
  return made;
}

// Shows the positions of a match, one at a time, and returns what goes to the one after so many turns. What was drawn reaches the
// page as the data of an image: nothing in it is run or loaded.
function drawPositions(layout, pictures, turns, boxes) {
  const figure = layout.appendChild(element("figure"));
  const image = figure.appendChild(element("img"));
  const caption = figure.appendChild(element("figcaption"));
  const controls = figure.appendChild(element("div", undefined, "controls"));
  const last = pictures.length - 1;
  const slider = element("input");
  Object.assign(slider, { type: "range", min: 0, max: last, ariaLabel: "Turns played" });
  const step = (by) => {
    go(Number(slider.value) + by);
    const isBeside = getComputedStyle(figure).position === "sticky"; // else the turn would be shown in place of the picture
    if (isBeside) boxes[slider.value - 1]?.scrollIntoView({ block: "nearest" });
  };
  const [back, next] = [button("Back", () => step(-1)), button("Next", () => step(1))];
  const go = (place) => {
    slider.value = place;
    const drawing = new DOMParser().parseFromString(pictures[place], "image/svg+xml");
    const words = ["title", "desc"].map((tag) => drawing.querySelector(`svg > ${tag}`)?.textContent).filter(Boolean);
    image.src = `data:image/svg+xml,${encodeURIComponent(pictures[place])}`;
    image.alt = printable(words.join(": "));
    caption.textContent = place ? `After turn ${place} of ${last}, of ${turns[place - 1].agent}` : "At the beginning";
    boxes.forEach((box, index) => box.classList.toggle("chosen", index === place - 1));
    back.disabled = place === 0;
    next.disabled = place === last;
  };
  slider.addEventListener("input", () => go(Number(slider.value)));
  controls.append(back, slider, next);
  caption.setAttribute("aria-live", "polite");
  go(0);
  return (place) => {
    go(place);
    figure.scrollIntoView({ block: "nearest" });
  };
}

function tellScene(scene, number, policy) {
  if (!scene.speaker && !scene.text) return element("h4", scene.heading);
  const box = element("div", undefined, scene.speaker ? "scene" : "scene told");
  if (scene.speaker) {
    box.style.borderLeftColor = `hsl(${(210 + number * 137) % 360} 60% 50%)`;
    box.append(element("b", scene.speaker), " ", element("span", policy, "dim"), ": ");
  }
  box.append(element("span", scene.heading, "heading"));
  for (const remark of scene.remarks) box.append(" ", element("span", remark, "mark"));
  if (scene.hidden) box.classList.add("hidden");
  if (scene.text) box.append(element("pre", scene.text));
  return box;
}

function tellTurn(turn, index, policy) {
  const box = element("div", undefined, "turn");
  box.append(element("b", `${index + 1}. ${turn.agent} `), element("span", policy, "dim"));
  box.append(element("pre", turn.read));
  for (const attempt of turn.attempts) {
    const good = attempt.kind === "ok";
    const [read, written] = attempt.tokens.map((count) => count ?? "?");
    const tokens = read || written ? `, ${read} tokens read, ${written} written` : "";
    box.append(element("span", `reply: ${attempt.kind}${tokens}`, good ? "good" : "bad"));
    if (attempt.reasoning) {
      const details = box.appendChild(element("details"));
      details.append(element("summary", "what was thought before it"), element("pre", attempt.reasoning));
    }
    box.append(element("pre", attempt.reply, "reply"));
    if (attempt.message) box.append(element("p", attempt.message, "bad"));
  }
  const played = turn.action === null ? "nothing: forfeit" : turn.played || JSON.stringify(turn.action);
  box.append(element("span", `played: ${played}${turn.fallback ? ` (${turn.fallback})` : ""}`, turn.fallback ? "bad" : "dim"));
  return box;
}

// A link to one match ends in #match=ID.
function showLinked() {
  const id = location.hash.startsWith("#match=") ? location.hash.slice("#match=".length) : "";
  const match = data.matches.find((candidate) => candidate.id === id);
  if (match) show(match);
}

for (const [id, values] of [
  ["environment", data.matches.map((match) => match.environment)],
  ["policy", data.matches.flatMap((match) => match.policies)],
]) {
  for (const value of [...new Set(values)].sort()) byId(id).append(element("option", value));
}
for (const id of ["environment", "policy", "status"]) byId(id).addEventListener("change", fill);
window.addEventListener("hashchange", showLinked);
fill();
showLinked();
