// The matches of the run, each known by its place in the record: columns of numbers, as rating/viewer/report/match_index.py writes them.
const ID_LENGTH = 16;

class Matches {
  constructor(index) {
    this.count = index.columns.number.length;
    this.columns = index.columns;
    this.values = index.values;
    this.kinds = index.kinds;
    this.ids = Array.from({ length: this.count }, (_, k) => index.ids.slice(k * ID_LENGTH, (k + 1) * ID_LENGTH));
    this.byId = new Map(this.ids.map((id, k) => [id, k]));
    let pack = -1;
    this.packs = this.columns.place.map((place) => (place ? pack : ++pack));
    this.results = this.values.result.map(([status, rewards, forfeits, error]) => ({ status, rewards, forfeits, error }));
    this.hasCosts = this.values.cost.some(Boolean);
  }

  // What stands in a column of values: a text, or the policies on the seats, or a result.
  value(column, match) {
    return (column === "result" ? this.results : this.values[column])[this.columns[column][match]];
  }

  describe(match) {
    const { status, rewards, forfeits } = this.value("result", match);
    if (status !== "finished") return status;
    const policies = this.value("policies", match);
    const told = rewards.map((reward) => (reward > 0 ? "+" : "") + Math.round(1000 * reward) / 1000).join(" / ");
    const seat = forfeits.findIndex(Boolean);
    return seat < 0 ? told : `${told}, forfeit by ${policies[seat]} (${forfeits[seat]})`;
  }

  // What went wrong in a match, in words.
  troubles(match) {
    const bits = this.columns.troubles[match];
    return this.kinds.filter((_, bit) => bits & (1 << bit)).map((kind) => kind.replaceAll("_", " "));
  }
}
