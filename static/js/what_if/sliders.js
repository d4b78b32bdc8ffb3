// The fields of the form, each with a slider and a lock.

import { toNumber } from "../rules/weights.js";
import { filled, shareText } from "./words.js";

const LOCK = `<svg viewBox="0 0 16 16" aria-hidden="true"><rect x="3" y="7" width="10" height="7"/><path class="closed" d="M5 7V5a3 3 0 0 1 6 0v2"/><path class="open" d="M5 7V5a3 3 0 0 1 5.5-1.6"/></svg>`;
const STEP = 5; // of the keyboard, in tenths of a percent

export class Sliders {
  /** @param onChange is called after a weight changed. */
  constructor(form, weighting, onChange) {
    this.weighting = weighting;
    this.texts = form.dataset;
    this.onChange = onChange;
    this.items = [...form.querySelectorAll(".slider")].map((element) => this.enhanced(element));
  }

  /** The items of tasks whose name, key, group or cluster a search means; all where it is empty. */
  matching(search) {
    const parts = search.toLowerCase().split(",").map((part) => part.split(/\s+/).filter(Boolean)).filter((words) => words.length);
    const tasks = this.items.filter(({ kind }) => kind === "task");
    if (!parts.length) return tasks;
    return tasks.filter(({ element: { dataset }, name }) => {
      const text = `${name} ${dataset.key} ${dataset.kin ?? ""}`.toLowerCase();
      return parts.some((words) => words.every((word) => text.includes(word)));
    });
  }

  /** Let only those tasks be seen that a search means, and the ticked ones. */
  filter(search) {
    const matching = new Set(this.matching(search));
    for (const item of this.items) {
      if (item.kind !== "task") continue;
      item.element.hidden = !matching.has(item) && !item.choice?.checked;
      const details = item.element.closest(".group details");
      if (details && search && matching.has(item)) details.open = true;
    }
    return matching.size;
  }

  /** Multiply the weights of the ticked tasks, or of those that a search means; returns how many. */
  multiply(search, factor) {
    const ticked = this.items.filter(({ choice }) => choice?.checked);
    const items = ticked.length ? ticked : search.trim() ? this.matching(search) : [];
    for (const { kind, index } of items) {
      const weight = Number((toNumber(this.weighting.read[kind][index]) * factor).toPrecision(12));
      this.weighting.set(kind, index, String(weight));
    }
    return items.length;
  }

  enhanced(element) {
    const { kind, key } = element.dataset;
    const name = element.querySelector("label").textContent.trim();
    const index = this.weighting.index(kind, key);
    const weight = element.querySelector(".weight");
    const range = document.createElement("input");
    Object.assign(range, { type: "range", min: 0, max: 1000, step: STEP });
    range.setAttribute("aria-label", filled(this.texts.share, { task: name }));
    const lock = document.createElement("button");
    Object.assign(lock, { type: "button", className: "lock", innerHTML: LOCK });
    lock.setAttribute("aria-label", filled(this.texts.lock, { task: name }));
    lock.setAttribute("aria-pressed", "false");
    element.append(range, lock);
    const item = {
      element, kind, index, name, weight, range, choice: element.querySelector(".choice"), output: element.querySelector("output"),
    };
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

  /** Take the weights that were typed before the data came; whether there are any. */
  takeTyped() {
    const typed = this.items.filter(({ weight }) => weight.value !== weight.defaultValue);
    return typed.filter(({ kind, index, weight }) => this.weighting.set(kind, index, weight.value.replace(",", ".") || "0")).length > 0;
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
      const isSplit = kind === "task" && shares[kind][index] !== level;
      const valueText = isSplit ? filled(this.texts.ofGroup, { share: shareText(level), total: text }) : text;
      if (range.getAttribute("aria-valuetext") !== valueText) range.setAttribute("aria-valuetext", valueText);
      element.classList.toggle("is-changed", own !== element.dataset.own);
      element.classList.toggle("is-silent", shares[kind][index] === 0);
    }
  }
}
