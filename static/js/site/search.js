// A search over the whole site in a dialog: what the page /search/ finds, while the reader types.

const SETTLE = 200; // milliseconds without a key before the server is asked

export function openSearch() {
  const dialog = document.getElementById("site-search");
  if (!dialog || dialog.open) return;
  const field = dialog.querySelector("input[type=search]");
  const results = dialog.querySelector(".search-results");
  if (!("live" in dialog.dataset)) {
    dialog.dataset.live = "";
    let timer = 0;
    let request = null;
    const ask = async () => {
      request?.abort();
      request = new AbortController();
      const address = `${field.form.getAttribute("action")}?q=${encodeURIComponent(field.value)}`;
      try {
        const answer = await fetch(address, { signal: request.signal });
        if (!answer.ok && answer.status !== 429) return;
        const page = new DOMParser().parseFromString(await answer.text(), "text/html");
        results.replaceChildren(...(page.getElementById("results")?.childNodes ?? []));
      } catch (error) {
        if (error.name !== "AbortError") throw error;
      }
    };
    field.addEventListener("input", () => {
      clearTimeout(timer);
      timer = setTimeout(ask, SETTLE);
    });
    // The arrows lead through what was found, Enter in the field opens the first.
    dialog.addEventListener("keydown", (event) => {
      const links = [...results.querySelectorAll("a")];
      const at = links.indexOf(document.activeElement);
      if (event.key === "ArrowDown" || event.key === "ArrowUp") {
        event.preventDefault();
        const next = at + (event.key === "ArrowDown" ? 1 : -1);
        (next < 0 ? field : links[Math.min(next, links.length - 1)])?.focus();
      } else if (event.key === "Enter" && document.activeElement === field) {
        const first = results.querySelector("li a"); // not a link of the text that says that nothing was found
        if (first) {
          event.preventDefault();
          first.click();
        }
      }
    });
    dialog.addEventListener("click", (event) => {
      if (event.target === dialog) dialog.close();
    });
  }
  dialog.showModal();
  field.select();
}
