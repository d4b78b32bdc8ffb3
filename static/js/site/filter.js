// Rows that do not match leave at once; then the server says which they are, with the address that says the same.

const SETTLE = 300; // milliseconds without a key before the server is asked
const PARTS = [".board tbody", ".table-bar", ".chips"];

export function filterWhileTyping(form) {
  const field = form.querySelector("input[type=search]");
  form.dataset.begun = "";
  let timer = 0;
  let request = null;
  field.addEventListener("input", () => {
    hide(field.value);
    clearTimeout(timer);
    timer = setTimeout(ask, SETTLE);
  });

  async function ask() {
    request?.abort();
    request = new AbortController();
    const parameters = new URLSearchParams([...new FormData(form)].filter(([name, value]) => value && name !== "page"));
    const query = parameters.toString();
    const address = location.pathname + (query ? `?${query}` : "");
    try {
      const answer = await fetch(address, { signal: request.signal });
      if (!answer.ok) return;
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const isWhole = PARTS.slice(0, 1).every((part) => page.querySelector(part) && document.querySelector(part));
      if (!isWhole) return; // none matches, or the first after none: the rows stay hidden, and Enter loads the page
      for (const part of PARTS) swap(document.querySelector(part), page.querySelector(part));
      history.replaceState(null, "", address);
    } catch (error) {
      if (error.name !== "AbortError") throw error;
    }
  }
}

function hide(words) {
  const text = words.trim().toLowerCase();
  for (const row of document.querySelectorAll(".board tbody tr")) {
    const name = row.querySelector("th :is(a, span:not(.place, .badge))");
    row.hidden = !`${name?.title ?? ""} ${name?.textContent ?? ""}`.toLowerCase().includes(text);
  }
}

function swap(mine, theirs) {
  if (mine && theirs) mine.replaceChildren(...theirs.childNodes);
  else if (mine?.matches(".chips")) mine.replaceChildren();
}
