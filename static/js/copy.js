// A button beside every text that is to be copied: [data-copy] is the text's element, and has the texts of the button:
// its full name, what is on it, and what is on it once the text was copied. Without this module one marks the text.

for (const source of document.querySelectorAll("[data-copy]")) {
  if (!navigator.clipboard) break; // no secure connection
  const { copy, button: label, copied } = source.dataset;
  const button = document.createElement("button");
  Object.assign(button, { type: "button", className: "button is-small", textContent: label });
  button.setAttribute("aria-label", copy);
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(source.textContent.trim());
    button.textContent = copied;
    setTimeout(() => (button.textContent = label), 2000);
  });
  source.after(" ", button);
}
