// Which matches are listed, and in which order: a function of what was chosen, which stands in the fragment of the page's address.
const CHOICES = ["environment", "policy", "other", "result", "replies", "search", "sort", "direction", "rows", "page", "match", "turn"];
const ROWS = 50;

const readChoice = (fragment) => {
  const given = new URLSearchParams(fragment);
  return Object.fromEntries(CHOICES.map((name) => [name, given.get(name) || ""]));
};

const writeChoice = (choice) => {
  const given = CHOICES.filter((name) => choice[name]).map((name) => [name, choice[name]]);
  return `#${new URLSearchParams(given)}`;
};

class Selection {
  constructor(matches) {
    this.matches = matches;
    const { values, results } = matches;
    const texts = {
      environment: values.environment,
      policies: values.policies.map((policies) => policies.join("\n")),
      result: results.map((result) => result.error),
    };
    this.words = Object.fromEntries(Object.entries(texts).map(([name, list]) => [name, list.map((text) => text.toLowerCase())]));
    this.orders = {
      environment: [texts.environment, (text) => [text]],
      policies: [texts.policies, (text) => [text]],
      result: [results, ({ status, rewards, forfeits }) => [status, forfeits.some(Boolean) ? 1 : 0, ...rewards]],
      cost: [values.cost, (cost) => [Number.isNaN(Number.parseFloat(cost)) ? -1 : Number.parseFloat(cost)]],
    };
    this.ranks = {};
  }

  // Returns where each value of a column stands among the others, so that matches are sorted by numbers alone.
  ranksOf(column) {
    this.ranks[column] ||= ranks(...this.orders[column]);
    return this.ranks[column];
  }

  // Returns the places of the matches that are chosen, in the order that is chosen.
  list(choice) {
    const tests = this.tests(choice);
    const found = [];
    for (let match = 0; match < this.matches.count; match++) if (tests.every((test) => test(match))) found.push(match);
    return choice.sort ? this.sorted(found, choice.sort, choice.direction === "down" ? -1 : 1) : found;
  }

  tests(choice) {
    const { columns, values, results, kinds } = this.matches;
    const tests = [];
    const among = (column, list, holds) => {
      const held = list.map(holds);
      tests.push((match) => held[columns[column][match]]);
    };
    if (choice.environment) among("environment", values.environment, (name) => name === choice.environment);
    const pair = [choice.policy, choice.other].filter(Boolean);
    if (pair.length) among("policies", values.policies, (policies) => holdsAll(policies, pair));
    if (choice.result === "forfeit") among("result", results, (result) => result.forfeits.some(Boolean));
    else if (choice.result) among("result", results, (result) => result.status === choice.result);
    if (choice.replies === "bad") tests.push((match) => columns.bad[match] > 0);
    else if (choice.replies) {
      const bit = 1 << kinds.indexOf(choice.replies);
      tests.push(kinds.includes(choice.replies) ? (match) => columns.troubles[match] & bit : () => false);
    }
    for (const word of choice.search.toLowerCase().split(/\s+/).filter(Boolean)) tests.push(this.holdsWord(word));
    return tests;
  }

  // A word is searched in ids, numbers, names and errors.
  holdsWord(word) {
    const { columns, ids } = this.matches;
    const held = Object.entries(this.words).map(([column, list]) => [columns[column], list.map((text) => text.includes(word))]);
    const number = /^#?\d+$/.test(word) ? Number(word.replace("#", "")) : -1;
    return (match) =>
      columns.number[match] === number || held.some(([codes, list]) => list[codes[match]]) || ids[match].startsWith(word);
  }

  sorted(found, column, sign) {
    const { columns, ids } = this.matches;
    if (column === "id") return found.sort((a, b) => sign * compare(ids[a], ids[b]) || a - b);
    if (!Object.hasOwn(columns, column)) return found;
    const places = Object.hasOwn(this.orders, column) ? this.ranksOf(column) : undefined;
    const key = places ? columns[column].map((code) => places[code]) : columns[column];
    return found.sort((a, b) => sign * (key[a] - key[b]) || a - b);
  }
}

const compare = (a, b) => (a < b ? -1 : a > b ? 1 : 0);

// Compares two lists part by part; where one ends it is the smaller one.
function difference(a, b) {
  const shared = Math.min(a.length, b.length);
  for (let k = 0; k < shared; k++) if (a[k] !== b[k]) return a[k] < b[k] ? -1 : 1;
  return a.length - b.length;
}

function ranks(list, keysOf) {
  const keys = list.map(keysOf);
  const order = list.map((_, k) => k).sort((a, b) => difference(keys[a], keys[b]));
  // Values that are no different have one rank, so that their matches stay in the order of the record.
  const places = [];
  order.forEach((value, place) => {
    const before = order[place - 1];
    places[value] = place && !difference(keys[before], keys[value]) ? places[before] : place;
  });
  return places;
}

// Says whether all of some policies sit in a match; one that is named twice, on two seats.
function holdsAll(policies, wanted) {
  const free = [...policies];
  return wanted.every((name) => {
    const seat = free.indexOf(name);
    if (seat >= 0) free.splice(seat, 1);
    return seat >= 0;
  });
}
