// What every page does beside its own: menus that close, keys that lead to a search, tables that follow. Without this
// module menus close by their own heading, every search is a form, and tables keep their heads in a box of their own.

import { openSearch } from "./site/search.js";
import { filterWhileTyping } from "./site/filter.js";
import { stickHead } from "./site/head.js";
import { addLocalTimes } from "./site/times.js";

const MENUS = "details.control";

/** Whether somebody writes here, so that a letter is a letter. */
const isWriting = (element) => element.isContentEditable || /^(INPUT|SELECT|TEXTAREA)$/.test(element.tagName);

document.addEventListener("click", ({ target }) => {
  for (const menu of document.querySelectorAll(`${MENUS}[open]`)) if (!menu.contains(target)) menu.open = false;
});

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") {
    for (const menu of document.querySelectorAll(`${MENUS}[open]`)) {
      const hadFocus = menu.contains(document.activeElement);
      menu.open = false;
      if (hadFocus) menu.querySelector("summary").focus();
    }
  } else if (event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey) {
    event.preventDefault();
    openSearch();
  } else if (event.key === "/" && !event.ctrlKey && !event.metaKey && !event.altKey && !isWriting(event.target)) {
    const field = document.querySelector("main input[type=search]");
    event.preventDefault();
    if (field) field.focus();
    else openSearch();
  }
});

/** What a page or a part of it brings; the board is swapped as a whole when its newest revision is there. */
function begin() {
  addLocalTimes();
  for (const form of document.querySelectorAll("form.filter[data-live]:not([data-begun])")) filterWhileTyping(form);
  for (const region of document.querySelectorAll(".table-region.is-tall:has(> .board):not(.is-in-page)")) stickHead(region);
}

document.addEventListener("htmx:afterSettle", begin);
begin();
