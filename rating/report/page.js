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
    row.addEventListener("click", () => {
      for (const other of table.querySelectorAll(".chosen")) other.classList.remove("chosen");
      row.classList.add("chosen");
      location.hash = `match=${match.id}`;
    });
  }
  byId("list").replaceChildren(table);
}

async function show(match) {
  const { seats, story, missing, turns } = (await unpack(match.chunk))[match.place];
  const agents = data.agents[match.environment] || [];
  const policyOf = (agent) => seats[agent] || match.policies[agents.indexOf(agent)] || "";
  const view = byId("match");
  view.replaceChildren(element("h3", `Match ${match.number} of ${match.environment}: ${match.policies.join(" v ")}`));
  view.append(element("p", describe(match) + (match.error ? `: ${match.error}` : ""), match.error ? "bad" : ""));
  if (missing) view.append(element("p", `The story of this match cannot be told: ${missing}.`, "bad"));
  const rules = data.rules[match.environment] || {};
  for (const agent of Object.keys(rules)) {
    const details = view.appendChild(element("details"));
    details.append(element("summary", `Rules as told to ${agent}`), element("pre", rules[agent]));
  }
  const tellTurns = (place) => turns.forEach((turn, index) => place.append(tellTurn(turn, index, policyOf(turn.agent))));
  if (story.length) {
    const details = view.appendChild(element("details"));
    details.append(element("summary", `What was read and replied, turn by turn (${turns.length})`));
    details.addEventListener("toggle", () => tellTurns(details), { once: true });
    const speakers = [...new Set(story.map((scene) => scene.speaker))].filter(Boolean);
    for (const scene of story) view.append(tellScene(scene, speakers.indexOf(scene.speaker), policyOf(scene.speaker)));
  } else {
    tellTurns(view);
  }
  view.scrollIntoView({ behavior: "smooth" });
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
