// Puts the page together: what is chosen stands in the fragment of its address, and everything follows from there.
async function start() {
  const data = await unpack(byId("index"));
  const matches = new Matches(data);
  let choice = readChoice("");
  let shown = "";
  const go = (changes, isTyping = false) => {
    const fragment = writeChoice({ ...choice, ...changes });
    if (fragment !== writeChoice(choice)) {
      history[isTyping ? "replaceState" : "pushState"](null, "", fragment === "#" ? "#matches" : fragment);
    }
    follow();
  };
  const list = new MatchList(matches, new Selection(matches), go);
  const view = new MatchView(data, matches, list, go);
  const follow = () => {
    const fragment = location.hash.slice(1);
    const isHeading = fragment && fragment !== "matches" && !fragment.includes("=");
    if (isHeading && list.isShown) return; // what is listed stays as it is
    choice = readChoice(fragment.includes("=") ? fragment : "");
    list.show(choice);
    const match = matches.byId.get(choice.match);
    if (choice.match === shown) view.showPlace(match);
    else if (match === undefined) view.clear(choice.match);
    else view.show(match);
    shown = choice.match;
  };
  window.addEventListener("hashchange", follow);
  follow();
}

start();
