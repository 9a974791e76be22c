// One part of the page is shown at a time: the one that the fragment of the address names or holds, at first the first one.
const TABS = [...document.querySelectorAll(".tab")];

function decoded(fragment) {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return ""; // an address written by hand
  }
}

function tabOf(fragment) {
  if (fragment.includes("=")) return TABS.find((tab) => tab.dataset.tab === "matches");
  return byId(fragment)?.closest(".tab") ?? undefined;
}

function showTab() {
  const raw = location.hash.slice(1);
  const fragment = raw.includes("=") ? raw : decoded(raw);
  const before = fragment ? TABS.find((tab) => !tab.hidden) : undefined;
  const chosen = tabOf(fragment) ?? before ?? TABS[0];
  for (const tab of TABS) tab.hidden = tab !== chosen;
  for (const link of document.querySelectorAll("#tabs a")) {
    if (decoded(link.hash.slice(1)) === chosen.dataset.tab) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  if (fragment.startsWith("section ")) byId(fragment).scrollIntoView();
}

for (const tab of TABS.slice(1)) tab.hidden = true;
showTab();
window.addEventListener("hashchange", showTab);
window.addEventListener("beforeprint", () => {
  for (const notes of document.querySelectorAll("details.notes")) notes.open = true;
});
