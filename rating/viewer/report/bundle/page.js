// Puts the page together: what is chosen stands in the fragment of its address, and everything follows from there.
class MatchPage {
  constructor() {
    const go = (changes, isTyping) => this.go(changes, isTyping);
    this.source = new Source();
    this.list = new MatchList(go);
    this.view = new MatchView(this.source, this.list, go);
    this.choice = readChoice("");
    this.shown = "";
  }

  async start() {
    await this.read();
    this.follow();
    window.addEventListener("hashchange", () => this.follow());
  }

  // Shows what the matches have become.
  async update() {
    if (!this.matches) return this.start(); // they could not be read before
    const before = this.stateOf(this.shown);
    await this.read();
    this.list.show(this.list.choice);
    const match = this.matches.byId.get(this.shown);
    if (match === undefined) return;
    if (this.stateOf(this.shown) !== before) await this.view.refresh(match);
    else this.view.showPlace(match);
  }

  async read() {
    const data = await this.source.index();
    this.matches = new Matches(data);
    this.list.use(this.matches);
    this.view.use(data, this.matches);
  }

  stateOf(id) {
    const match = this.matches.byId.get(id);
    return match === undefined ? "" : [this.matches.columns.turns[match], this.matches.columns.troubles[match], this.matches.describe(match)].join();
  }

  go(changes, isTyping = false) {
    const fragment = writeChoice({ ...this.choice, ...changes });
    if (fragment !== writeChoice(this.choice)) {
      history[isTyping ? "replaceState" : "pushState"](null, "", fragment === "#" ? "#matches" : fragment);
    }
    this.follow();
  }

  follow() {
    const fragment = location.hash.slice(1);
    const isHeading = fragment && fragment !== "matches" && !fragment.includes("=");
    if (isHeading && this.list.choice) return; // what is listed stays as it is
    this.choice = readChoice(fragment.includes("=") ? fragment : "");
    this.list.show(this.choice);
    const { match: id, turn } = this.choice;
    const match = this.matches.byId.get(id);
    const isSame = id === this.shown;
    this.shown = id;
    if (match === undefined) isSame || this.view.clear(id);
    else if (!isSame) this.view.show(match, turn);
    else {
      this.view.showPlace(match);
      if (turn) this.view.showTurn(turn);
    }
  }
}

const matchPage = new MatchPage();
const started = matchPage.start();
