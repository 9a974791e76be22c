"use strict";
// What every part of the page uses. Everything a model wrote reaches the page through textContent only.
const byId = (id) => document.getElementById(id);

// What could reorder a line or hide in it, as llmarena_envs.core.terminal has it.
const STEERING = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;
const printable = (text) => text.replace(STEERING, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`);

function element(tag, text, className) {
  const node = document.createElement(tag);
  if (text !== undefined) node.textContent = printable(text);
  if (className) node.className = className;
  return node;
}

// What a table says of a name, whatever it is: nothing of its own is known of "constructor".
const own = (table, name) => (table && Object.hasOwn(table, name) ? table[name] : undefined);

function button(label, action) {
  const made = element("button", label);
  made.type = "button";
  made.addEventListener("click", action);
  return made;
}
