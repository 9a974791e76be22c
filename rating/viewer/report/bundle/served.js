// The matches of a run: asked of its server.
class Source {
  index() {
    return ask("/index");
  }

  match(matches, match) {
    return ask(`/match/${matches.ids[match]}`);
  }

  // How many positions of a match can be drawn.
  positions({ turns, missing }) {
    return missing ? 0 : turns.length + 1;
  }

  picture(id, content, place) {
    return ask(`/match/${id}/${place}`);
  }
}

async function ask(path) {
  const answer = await fetch(document.body.dataset.home + path);
  if (!answer.ok) throw new Error(await answer.text());
  return answer.json();
}
