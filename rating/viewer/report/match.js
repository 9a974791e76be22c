// One match: its positions, its story, and its turns with everything that is known of a reply.
class MatchView {
  constructor(data, matches, list, go) {
    this.data = data;
    this.matches = matches;
    this.list = list;
    this.chunks = document.querySelectorAll("script.chunk");
    this.opened = { pack: -1, content: undefined };
    this.wanted = undefined;
    const step = (to) => () => this[to] !== undefined && go({ match: matches.ids[this[to]], page: "" });
    this.steps = { previous: button("Previous match", step("previous")), next: button("Next match", step("next")) };
    this.place = element("span", "", "dim");
    this.place.setAttribute("aria-live", "polite");
    this.bar = element("div", undefined, "controls");
    this.bar.append(this.steps.previous, this.steps.next, this.place);
    const keys = { p: "previous", n: "next" };
    byId("match").addEventListener("keydown", (event) => {
      const isTyping = event.target.tagName === "INPUT" || event.ctrlKey || event.metaKey || event.altKey;
      if (keys[event.key] && !isTyping) step(keys[event.key])();
    });
  }

  clear(id) {
    this.wanted = undefined;
    byId("match").replaceChildren(...(id ? [element("p", `There is no match ${id} in this run.`, "bad")] : []));
  }

  // Says where the match stands in the list, which may have changed.
  showPlace(match) {
    const { position, previous, next } = this.list.around(match);
    Object.assign(this, { previous, next });
    this.steps.previous.disabled = previous === undefined;
    this.steps.next.disabled = next === undefined;
    this.place.textContent =
      position === undefined ? "not among the matches listed" : `match ${position + 1} of ${this.list.found.length} listed`;
  }

  async show(match) {
    this.wanted = match;
    const { matches } = this;
    const content = await this.content(match);
    if (this.wanted !== match) return; // somebody was faster
    const environment = matches.value("environment", match);
    const policies = matches.value("policies", match);
    const { error } = matches.value("result", match);
    const view = byId("match");
    const isWithin = view.contains(document.activeElement) ? document.activeElement : undefined;
    const title = element("h3", `Match ${matches.columns.number[match]} of ${environment}: ${policies.join(" v ")}`);
    view.replaceChildren(title, this.bar);
    this.showPlace(match);
    view.append(element("p", matches.describe(match) + (error ? `: ${error}` : ""), error ? "bad" : ""));
    this.tell(view, environment, policies, content);
    view.scrollIntoView({ behavior: "smooth" });
    (isWithin && isWithin.isConnected && !isWithin.disabled ? isWithin : view).focus({ preventScroll: true });
  }

  async content(match) {
    const pack = this.matches.packs[match];
    if (this.opened.pack !== pack) this.opened = { pack, content: await unpack(this.chunks[pack]) };
    return this.opened.content[this.matches.columns.place[match]];
  }

  tell(view, environment, policies, { seats, story, drawn, pictures, missing, promptless, turns }) {
    const agents = own(this.data.agents, environment) || [];
    const policyOf = (agent) => own(seats, agent) || policies[agents.indexOf(agent)] || "";
    if (missing) view.append(element("p", `This match cannot be played again, so it is shown without pictures or story: ${missing}.`, "bad"));
    if (!drawn) view.append(element("p", `The first matches of an environment are drawn, up to ${this.data.drawn} turns; this is a later one.`, "dim"));
    const rules = own(this.data.rules, environment) || {};
    for (const agent of Object.keys(rules)) {
      const details = view.appendChild(element("details"));
      details.append(element("summary", `Rules as told to ${agent}`), element("pre", rules[agent]));
    }
    const find = view.appendChild(element("div"));
    const layout = view.appendChild(element("div", undefined, pictures.length ? "drawn" : ""));
    const requests = new Requests(turns, rules, promptless);
    const boxes = [];
    const go = pictures.length ? drawPositions(layout, pictures, turns, boxes) : undefined;
    const tellTurns = (place) => {
      if (boxes.length) return;
      turns.forEach((turn, index) => {
        const box = place.appendChild(tellTurn(turn, index, policyOf(turn.agent), requests));
        if (go) box.prepend(button("Position", () => go(index + 1)));
        boxes.push(box);
      });
    };
    const told = layout.appendChild(element("div"));
    const details = story.length ? told.appendChild(element("details")) : undefined;
    if (details) {
      details.append(element("summary", `What was read and replied, turn by turn (${turns.length})`));
      details.addEventListener("toggle", () => tellTurns(details), { once: true });
      const speakers = [...new Set(story.map((scene) => scene.speaker))].filter(Boolean);
      for (const scene of story) told.append(tellScene(scene, speakers.indexOf(scene.speaker), policyOf(scene.speaker)));
    } else {
      tellTurns(told);
    }
    const open = () => {
      if (details) details.open = true;
      tellTurns(details || told);
      return boxes;
    };
    if (turns.length) findInReplies(find, turns, open);
  }
}

// Looks for words in what was replied and thought, in capitals or not, and shows the turns that have them, one after the other.
function findInReplies(place, turns, open) {
  const input = element("input");
  Object.assign(input, { type: "search", placeholder: "Find in replies", ariaLabel: "Find in the replies of this match" });
  const told = element("span", "", "dim");
  told.setAttribute("aria-live", "polite");
  const texts = turns.map(({ attempts, played }) =>
    [...attempts.flatMap(({ reply, reasoning, message }) => [reply, reasoning || "", message]), played].join("\n").toLowerCase(),
  );
  let found = [];
  let at = -1;
  const search = () => {
    const words = input.value.toLowerCase();
    found = words ? [...texts.keys()].filter((turn) => texts[turn].includes(words)) : [];
    at = -1;
    told.textContent = words ? `in ${found.length} of ${turns.length} turns` : "";
    next.disabled = !found.length;
  };
  const step = () => {
    if (!found.length) return;
    at = (at + 1) % found.length;
    const boxes = open();
    boxes.forEach((box, turn) => box.classList.toggle("found", turn === found[at]));
    boxes[found[at]].scrollIntoView({ block: "nearest" });
    told.textContent = `turn ${found[at] + 1}: ${at + 1} of ${found.length} turns`;
  };
  const next = button("Next turn found", step);
  next.disabled = true;
  input.addEventListener("input", search);
  input.addEventListener("keydown", (event) => event.key === "Enter" && step());
  place.className = "controls";
  place.append(input, next, told);
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
