// One turn: what was read, every reply with what it took, and what was asked for it.

// The requests of a match. Prompts are put together out of the texts of the match, as rating/viewer/report/prompts.py takes them apart.
class Requests {
  constructor(turns, rules, missing) {
    this.turns = turns;
    this.rules = rules;
    this.missing = missing;
    this.prompts = undefined;
  }

  // The messages that were sent for a reply, or nothing if they are not known.
  prompt(turn, attempt) {
    this.prompts ||= this.build();
    return this.prompts.get(`${turn} ${attempt}`);
  }

  build() {
    const prompts = new Map();
    const before = new Map();
    this.turns.forEach(({ agent, attempts }, turn) =>
      attempts.forEach(({ prompt }, attempt) => {
        if (!prompt) return;
        const [same, ...rest] = prompt;
        const earlier = before.get(agent) || [];
        const last = earlier.length ? earlier[earlier.length - 1].content : "";
        const written = rest.map(([role, ...parts]) => ({
          role,
          content: parts.map((part) => this.part(part, agent, last)).join(""),
        }));
        before.set(agent, [...earlier.slice(0, same), ...written]);
        prompts.set(`${turn} ${attempt}`, before.get(agent));
      }),
    );
    return prompts;
  }

  part(part, agent, last) {
    if (typeof part === "string") return part;
    const [kind, turn, attempt] = part;
    if (kind === "rules") return own(this.rules, agent);
    if (kind === "read") return this.turns[turn].read;
    if (kind === "reply") return this.turns[turn].attempts[attempt].reply;
    return Array.from(last).slice(0, turn).join("");
  }

  // What was asked for besides the messages: as recorded with the first reply of the agent.
  parameters(agent) {
    for (const turn of this.turns) {
      const found = turn.agent === agent && turn.attempts.find(({ detail }) => detail?.request);
      if (found) return found.detail.request;
    }
    return undefined;
  }
}

// The number of a turn is its address.
function tellTurn(turn, index, policy, requests, address) {
  const box = element("div", undefined, "turn");
  const number = element("a", `${index + 1}.`);
  number.href = address;
  const name = box.appendChild(element("b"));
  name.append(number, ` ${printable(turn.agent)} `);
  box.append(element("span", policy, "dim"));
  box.append(element("pre", turn.read));
  turn.attempts.forEach((attempt, number) => tellAttempt(box, turn, index, attempt, number, requests));
  const played = turn.action === null ? "nothing: forfeit" : turn.played || JSON.stringify(turn.action);
  box.append(element("span", `played: ${played}${turn.fallback ? ` (${turn.fallback})` : ""}`, turn.fallback ? "bad" : "dim"));
  return box;
}

function tellAttempt(box, turn, index, attempt, number, requests) {
  const facts = [`reply: ${attempt.kind}`, ...tellCost(attempt)];
  box.append(element("span", facts.join(", "), attempt.kind === "ok" ? "good" : "bad"));
  if (attempt.detail) tellRequest(box, turn, index, attempt, number, requests);
  if (attempt.reasoning) {
    const details = box.appendChild(element("details"));
    details.append(element("summary", "what was thought before it"), element("pre", attempt.reasoning));
  }
  box.append(element("pre", attempt.reply, "reply"));
  if (attempt.message) box.append(element("p", attempt.message, "bad"));
}

// What a reply took: time, requests, tokens.
function tellCost({ seconds, waited, calls, tokens, detail }) {
  const told = [];
  if (seconds) told.push(`${seconds} s${waited ? ` (${waited} s of it waited)` : ""}`);
  if (calls > 1) told.push(`${calls} requests`);
  if (!calls && detail?.request) told.push("out of the cache");
  if (detail?.finish_reason) told.push(`finish reason ${text(detail.finish_reason)}`);
  if (tokens) {
    const [read, written, cached, reasoning] = tokens;
    told.push(`${read ?? "?"} tokens read${cached ? ` (${cached} cached)` : ""}`);
    told.push(`${written ?? "?"} written${reasoning ? ` (${reasoning} of reasoning)` : ""}`);
  }
  return told;
}

const text = (value) => (typeof value === "string" ? value : JSON.stringify(value));

function tellRequest(box, turn, index, attempt, number, requests) {
  const details = box.appendChild(element("details"));
  details.append(element("summary", "request"));
  const { request, ...answered } = attempt.detail;
  const parameters = requests.parameters(turn.agent);
  const rows = Object.entries({ ...answered, ...(attempt.request_id ? { "request id": attempt.request_id } : {}) });
  const table = details.appendChild(element("table"));
  for (const [name, value] of rows) {
    const row = table.appendChild(element("tr"));
    row.append(element("td", name.replaceAll("_", " "), "text"), element("td", text(value), "text"));
  }
  if (parameters) {
    const list = parameters.response_format ? "; moves listed in response_format are those of that turn, not of this one" : "";
    const title = request ? "Parameters" : `Parameters, as with the first request of the match${list}`;
    details.append(element("p", title, "dim"));
    details.append(element("pre", JSON.stringify(parameters, null, 2)));
  }
  const prompt = box.appendChild(element("details"));
  prompt.append(element("summary", "exact prompt"));
  const tell = () => {
    const messages = requests.prompt(index, number);
    if (!messages) prompt.append(element("p", `not recorded${requests.missing ? `: ${requests.missing}` : ""}`, "dim"));
    for (const { role, content } of messages || []) {
      prompt.append(element("span", role, "mark"), element("pre", content, "prompt"));
    }
  };
  prompt.addEventListener("toggle", tell, { once: true });
}
