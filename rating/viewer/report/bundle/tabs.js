// One part of the page is shown at a time: the one that the fragment of the address names or holds, at first the first one.
const tabs = () => [...document.querySelectorAll(".tab")];

function decoded(fragment) {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return ""; // an address written by hand
  }
}

// What is chosen among the matches has "=" in its fragment; in the name of a part it is encoded.
function showTab({ isNews = false } = {}) {
  const raw = location.hash.slice(1);
  const named = byId(raw.includes("=") ? "matches" : decoded(raw));
  const all = tabs();
  const before = raw ? all.find((tab) => !tab.hidden) : all[0];
  const chosen = named?.closest(".tab") ?? before;
  for (const tab of all) tab.hidden = tab !== chosen;
  for (const link of document.querySelectorAll("#tabs a")) {
    if (decoded(link.hash.slice(1)) === chosen.dataset.tab) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  if (!isNews && named?.id.startsWith("section ")) named.scrollIntoView();
}

showTab();
window.addEventListener("hashchange", () => showTab());
window.addEventListener("beforeprint", () => {
  for (const notes of document.querySelectorAll("details.notes")) notes.open = true;
});
