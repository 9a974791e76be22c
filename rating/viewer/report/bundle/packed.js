// The matches of a report: packed into its page.
class Source {
  constructor() {
    this.chunks = document.querySelectorAll("script.chunk");
    this.opened = { pack: -1, contents: [] };
  }

  index() {
    return unpack(byId("index"));
  }

  async match(matches, match) {
    const pack = matches.packs[match];
    if (this.opened.pack !== pack) this.opened = { pack, contents: await unpack(this.chunks[pack]) };
    return restored(this.opened.contents, matches.columns.place[match]);
  }

  // How many positions of a match can be drawn.
  positions({ pictures }) {
    return pictures.length;
  }

  async picture(id, { pictures }, place) {
    return { svg: pictures[place], missing: "" };
  }
}

// Puts the texts of a match together out of the pieces of its pack, as rating/viewer/report/pieces.py takes them apart.
function restored({ pieces, matches }, place) {
  const joined = (runs, separator) => {
    const run = (k) => pieces.slice(runs[2 * k], runs[2 * k] + runs[2 * k + 1]);
    return Array.from({ length: runs.length / 2 }, (_, k) => run(k)).flat().join(separator);
  };
  const match = matches[place];
  const turns = match.turns.map((turn) => ({ ...turn, read: joined(turn.read, "\n") }));
  return { ...match, turns, pictures: match.pictures.map((runs) => joined(runs, "><")) };
}

async function unpack(script) {
  const bytes = Uint8Array.from(atob(script.textContent.trim()), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).json();
}
