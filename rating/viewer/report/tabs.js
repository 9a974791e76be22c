// One part of the page is shown at a time: the one that the fragment of the address names or holds, at first the first one.
const TABS = [...document.querySelectorAll(".tab")];

function decoded(fragment) {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return ""; // an address written by hand
  }
}

// What is chosen among the matches has "=" in its fragment; in the name of a part it is encoded.
function showTab() {
  const raw = location.hash.slice(1);
  const named = byId(raw.includes("=") ? "matches" : decoded(raw));
  const before = raw ? TABS.find((tab) => !tab.hidden) : TABS[0];
  const chosen = named?.closest(".tab") ?? before;
  for (const tab of TABS) tab.hidden = tab !== chosen;
  for (const link of document.querySelectorAll("#tabs a")) {
    if (decoded(link.hash.slice(1)) === chosen.dataset.tab) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  if (named?.id.startsWith("section ")) named.scrollIntoView();
}

showTab();
window.addEventListener("hashchange", showTab);
window.addEventListener("beforeprint", () => {
  for (const notes of document.querySelectorAll("details.notes")) notes.open = true;
});
