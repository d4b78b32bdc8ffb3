// The fields of the form, each with a slider and a lock.

import { shareText } from "./words.js";

const LOCK = `<svg viewBox="0 0 16 16" aria-hidden="true"><rect x="3" y="7" width="10" height="7"/><path class="closed" d="M5 7V5a3 3 0 0 1 6 0v2"/><path class="open" d="M5 7V5a3 3 0 0 1 5.5-1.6"/></svg>`;
const STEP = 5; // of the keyboard, in tenths of a percent

export class Sliders {
  /** @param onChange is called after a weight changed. */
  constructor(form, weighting, onChange) {
    this.weighting = weighting;
    this.onChange = onChange;
    this.items = [...form.querySelectorAll(".slider")].map((element) => this.enhanced(element));
  }

  enhanced(element) {
    const { kind, key } = element.dataset;
    const name = element.querySelector("label").textContent.trim();
    const index = this.weighting.index(kind, key);
    const weight = element.querySelector(".weight");
    const range = document.createElement("input");
    Object.assign(range, { type: "range", min: 0, max: 1000, step: STEP });
    range.setAttribute("aria-label", `Share of ${name}`);
    const lock = document.createElement("button");
    Object.assign(lock, { type: "button", className: "lock", innerHTML: LOCK });
    lock.setAttribute("aria-label", `Lock the share of ${name}`);
    lock.setAttribute("aria-pressed", "false");
    element.append(range, lock);
    const item = { element, kind, index, weight, range, output: element.querySelector("output") };
    range.addEventListener("input", () => {
      this.weighting.setShare(kind, index, range.value / 1000);
      this.onChange(item);
    });
    range.addEventListener("change", () => this.show());
    weight.addEventListener("input", () => {
      const isRead = this.weighting.set(kind, index, weight.value.replace(",", ".") || "0");
      weight.toggleAttribute("aria-invalid", !isRead);
      if (!isRead) return weight.setAttribute("aria-invalid", "true");
      this.onChange(item);
    });
    lock.addEventListener("click", () => {
      const isLocked = lock.getAttribute("aria-pressed") !== "true";
      lock.setAttribute("aria-pressed", String(isLocked));
      this.weighting.locked[isLocked ? "add" : "delete"](`${kind} ${index}`);
    });
    return item;
  }

  /** Show every weight and share; the slider that is being moved, or the field that is written in, is left alone. */
  show(moved) {
    const shares = this.weighting.shares();
    if (!shares) return;
    const levels = this.weighting.levelShares();
    for (const item of this.items) {
      const { element, kind, index, weight, range, output } = item;
      const text = shareText(shares[kind][index]);
      if (output.textContent !== text) output.textContent = text;
      const own = this.weighting.texts[kind][index];
      if (!(item === moved && document.activeElement === weight) && weight.value !== own) {
        weight.value = own;
        weight.removeAttribute("aria-invalid");
      }
      const level = Math.round((levels.get(`${kind} ${index}`) ?? 0) * 1000);
      if (!(item === moved && document.activeElement === range)) range.value = level;
      const told = kind === "task" && shares[kind][index] !== level ? `${shareText(level)} of its group, ${text} of all` : text;
      if (range.getAttribute("aria-valuetext") !== told) range.setAttribute("aria-valuetext", told);
      element.classList.toggle("is-changed", own !== element.dataset.own);
      element.classList.toggle("is-silent", shares[kind][index] === 0);
    }
  }
}
