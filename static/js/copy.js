// A button beside every text that is to be copied: [data-copy] is the text's element. Without this module one marks it.

for (const source of document.querySelectorAll("[data-copy]")) {
  if (!navigator.clipboard) break; // no secure connection
  const button = document.createElement("button");
  Object.assign(button, { type: "button", className: "button is-small", textContent: "Copy" });
  button.setAttribute("aria-label", `Copy ${source.dataset.copy}`);
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(source.textContent.trim());
    button.textContent = "Copied";
    setTimeout(() => (button.textContent = "Copy"), 2000);
  });
  source.after(" ", button);
}
