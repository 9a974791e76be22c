const A_TURN = 1000; // milliseconds of a turn while a match plays by itself

// One match: its positions, its story, and its turns with everything that is known of a reply.
class MatchView {
  // go(changes) is called with what somebody chooses.
  constructor(source, list, go) {
    this.source = source;
    this.list = list;
    this.go = go;
    this.wanted = undefined;
    const step = (to) => () => this[to] !== undefined && go({ match: this.matches.ids[this[to]], page: "", turn: "" });
    this.steps = { previous: button("Previous match", step("previous")), next: button("Next match", step("next")) };
    this.place = element("span", "", "dim");
    this.place.setAttribute("aria-live", "polite");
    this.bar = element("div", undefined, "controls");
    this.bar.append(this.steps.previous, this.steps.next, this.place);
    const keys = { p: step("previous"), n: step("next"), ArrowLeft: () => this.turnBy(-1), ArrowRight: () => this.turnBy(1) };
    byId("match").addEventListener("keydown", (event) => {
      const isTyping = event.target.tagName === "INPUT" || event.ctrlKey || event.metaKey || event.altKey;
      if (Object.hasOwn(keys, event.key) && !isTyping) keys[event.key]();
    });
  }

  // Takes the matches to show, in place of those before.
  use(data, matches) {
    this.data = data;
    this.matches = matches;
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

  async show(match, turn) {
    if (!(await this.fill(match))) return;
    const view = byId("match");
    if (turn) {
      this.turns.open();
      this.showTurn(turn);
    } else view.scrollIntoView({ behavior: "smooth" });
    if (!view.contains(document.activeElement)) view.focus({ preventScroll: true });
  }

  // Shows what a match has become; what was opened, typed and chosen stays.
  async refresh(match) {
    const view = byId("match");
    const controls = () => [...view.querySelectorAll("button, input, summary, a")];
    const was = { place: this.turns?.place(), isLast: this.turns?.isLast(), focus: controls().indexOf(document.activeElement) };
    const opened = [...view.querySelectorAll("details")].map(({ open }) => open);
    const typed = view.querySelector("input[type=search]")?.value;
    if (!(await this.fill(match))) return;
    if (opened.some(Boolean)) this.turns.open();
    view.querySelectorAll("details").forEach((one, place) => (one.open = opened[place] ?? one.open));
    const find = view.querySelector("input[type=search]");
    if (find && typed) Object.assign(find, { value: typed }).dispatchEvent(new Event("input"));
    this.turns.go(was.isLast ? this.turns.last : (was.place ?? 0));
    controls()[was.focus]?.focus({ preventScroll: true });
  }

  // Writes a match into the page; returns whether it is still the one to show.
  async fill(match) {
    this.wanted = match;
    const { matches } = this;
    const view = byId("match");
    let content;
    try {
      content = await this.source.match(matches, match);
    } catch (error) {
      if (this.wanted === match) view.replaceChildren(this.bar, element("p", `This match cannot be read: ${error.message}`, "bad"));
      return false;
    }
    if (this.wanted !== match) return false; // somebody was faster
    const environment = matches.value("environment", match);
    const policies = matches.value("policies", match);
    const { error } = matches.value("result", match);
    const title = element("h3", `Match ${matches.columns.number[match]} of ${environment}: ${policies.join(" v ")}`);
    const isWithin = this.bar.contains(document.activeElement) ? document.activeElement : undefined;
    view.replaceChildren(title, this.bar);
    isWithin?.focus({ preventScroll: true });
    this.showPlace(match);
    view.append(element("p", matches.describe(match) + (error ? `: ${error}` : ""), error ? "bad" : ""));
    this.tell(view, match, environment, policies, content);
    return true;
  }

  // Shows a turn, and the position after it.
  showTurn(turn) {
    const place = Number.parseInt(turn, 10);
    if (!this.turns || !(place >= 0) || place > this.turns.last) return;
    if (place !== this.turns.place()) this.turns.go(place);
    const figure = byId("match").querySelector("figure");
    const isBeside = !figure || getComputedStyle(figure).position === "sticky"; // else the turn would be shown in place of the picture
    if (isBeside) byId("match").querySelector(".turn.chosen")?.scrollIntoView({ block: "nearest" });
  }

  turnBy(step) {
    const place = (this.turns?.place() ?? 0) + step;
    if (this.turns && place >= 0 && place <= this.turns.last) this.go({ turn: String(place) }, true);
  }

  tell(view, match, environment, policies, content) {
    const { seats, story, drawn, missing, promptless, turns } = content;
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
    for (const svg of content.curves || []) showDrawing(view.appendChild(element("p", undefined, "curve")).appendChild(element("img")), svg);
    const positions = this.source.positions(content);
    const layout = view.appendChild(element("div", undefined, positions ? "drawn" : ""));
    const requests = new Requests(turns, rules, promptless);
    const boxes = [];
    const choose = (place) => this.go({ turn: String(place) }, true);
    const id = this.matches.ids[match];
    const draw = positions
      ? drawPositions(layout, turns, (place) => this.source.picture(id, content, place), choose)
      : () => {};
    let chosen = 0;
    const go = (place) => {
      chosen = place;
      draw(place);
      boxes.forEach((box, index) => box.classList.toggle("chosen", index === place - 1));
    };
    const tellTurns = (place) => {
      if (boxes.length) return;
      turns.forEach((turn, index) => {
        const box = place.appendChild(tellTurn(turn, index, policyOf(turn.agent), requests, this.list.address({ match: id, turn: index + 1 })));
        boxes.push(box);
      });
      boxes[chosen - 1]?.classList.add("chosen");
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
    view.append(asData({ ...content, pictures: undefined, curves: undefined }));
    this.turns = { go, open, place: () => chosen, last: turns.length, isLast: () => chosen === turns.length };
    go(0);
    if (turns.length) findInReplies(find, turns, open);
  }
}

function asData(content) {
  const details = element("details");
  details.append(element("summary", "As data"));
  details.addEventListener("toggle", () => details.append(element("pre", JSON.stringify(content, null, 2))), { once: true });
  return details;
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

// Shows the positions of a match, one at a time, and returns what shows the one after so many turns. What was drawn reaches the page
// as the data of an image: nothing in it is run or loaded. choose(place) is called with what somebody chooses.
function drawPositions(layout, turns, picture, choose) {
  const figure = layout.appendChild(element("figure"));
  const image = figure.appendChild(element("img"));
  const caption = figure.appendChild(element("figcaption"));
  const controls = figure.appendChild(element("div", undefined, "controls"));
  const last = turns.length;
  const slider = element("input");
  Object.assign(slider, { type: "range", min: 0, max: last, ariaLabel: "Turns played" });
  const back = button("Back", () => choose(Number(slider.value) - 1));
  const next = button("Next", () => choose(Number(slider.value) + 1));
  slider.addEventListener("input", () => choose(Number(slider.value)));
  let playing;
  const stop = () => {
    clearInterval(playing);
    playing = undefined;
    play.textContent = "Play";
  };
  const play = button("Play", () => {
    if (playing) return stop();
    if (Number(slider.value) === last) choose(0);
    play.textContent = "Pause";
    playing = setInterval(() => {
      if (!figure.isConnected || Number(slider.value) === last) stop();
      else choose(Number(slider.value) + 1);
    }, A_TURN);
  });
  play.disabled = last === 0;
  controls.append(play, back, slider, next);
  caption.setAttribute("aria-live", "polite");
  return async (place) => {
    slider.value = place;
    back.disabled = place === 0;
    next.disabled = place === last;
    const told = place ? `After turn ${place} of ${last}, of ${turns[place - 1].agent}` : "At the beginning";
    const { svg, missing } = await picture(place).catch((error) => ({ svg: "", missing: error.message }));
    if (Number(slider.value) !== place) return; // somebody was faster
    caption.textContent = printable(missing ? `${told}. There is no picture: ${missing}` : told);
    image.hidden = !svg;
    showDrawing(image, svg);
  };
}

// Shows a drawing with its title and description as alternative text.
function showDrawing(image, svg) {
  const drawing = new DOMParser().parseFromString(svg, "image/svg+xml");
  const words = ["title", "desc"].map((tag) => drawing.querySelector(`svg > ${tag}`)?.textContent).filter(Boolean);
  image.src = `data:image/svg+xml,${encodeURIComponent(svg)}`;
  image.alt = printable(words.join(": "));
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
