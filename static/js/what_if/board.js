// The outcome on the page: who wins, who moves, the rows. Only what changed is written.

import * as words from "./words.js";

const MOST_MOVERS = 6;
const FIRST = { 1: "first", "=1": "joint" }; // classes of first places, held alone and shared
const MOVE = { duration: 180, easing: "ease-out" };
const reducesMotion = matchMedia("(prefers-reduced-motion: reduce)");

const winnersPart = (chip) => chip.querySelector("b");

function write(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

function mark(element, name) {
  if (element.className !== name) element.className = name;
}

export class Board {
  constructor(root, { systems, own }) {
    this.systems = systems;
    this.own = own;
    this.parts = Object.fromEntries(
      ["headline", "majority", "dissent", "movers", "movers-head", "rows", "live-caption"].map((id) => [id, root.querySelector(`#${id}`)]));
    this.table = root.querySelector(".live-board");
    this.heads = [...this.table.querySelectorAll("th[data-rule]")];
    this.rules = this.heads.map((head) => head.dataset.rule);
    this.names = this.heads.map((head) => head.textContent.trim());
    this.chips = new Map([...root.querySelectorAll(".electors li")].map((chip) => [chip.dataset.rule, chip]));
    this.gliding = new WeakMap();
    this.scrolled = 0;
    const region = this.table.parentElement;
    region.addEventListener("scroll", () => (this.scrolled = region.scrollTop), { passive: true });
    this.find();
    this.fix();
  }

  /** Find the rows, after the server wrote them. */
  find() {
    this.rows = [...this.parts.rows.rows].map((row) => ({
      row, index: Number(row.dataset.system), place: row.cells[0], change: row.cells[1].firstElementChild, cells: [...row.cells].slice(3),
    }));
    this.rowOrder = this.rows.map(({ index }) => index);
    this.byIndex = new Map(this.rows.map((entry) => [entry.index, entry]));
  }

  /** Columns keep the width that they have: a table that measures all its cells again is slow. */
  fix() {
    const heads = [...this.table.tHead.rows[0].cells];
    const widths = heads.map((head) => head.getBoundingClientRect().width);
    heads.forEach((head, k) => (head.style.width = `${widths[k]}px`));
    this.table.style.width = `${this.table.getBoundingClientRect().width}px`;
    this.table.style.tableLayout = "fixed";
    this.rowHeight = this.rows[0]?.row.getBoundingClientRect().height ?? 0;
  }

  /** Show what `Contest.rank` gives, in the order of `rule`. */
  show(contest, rule) {
    for (const [key, ranking] of Object.entries(contest.rankings)) {
      const chip = this.chips.get(key);
      if (chip) this.showChip(chip, words.winnersText(ranking, this.systems), this.isElsewhere(key, ranking.ranks));
    }
    const at = this.rules.indexOf(rule);
    this.showWords(this.chips.get(rule), words.majorityText(contest, this.systems), this.names[at]);
    const ranks = contest.rankings[rule].ranks;
    this.rules.forEach((key, c) => contest.rankings[key] && this.showColumn(c, key, contest.rankings[key].ranks));
    this.showRanks(ranks, rule, this.names[at]);
    this.heads.forEach((head) => head.classList.toggle("is-chosen", head.dataset.rule === rule));
  }

  /** Whether a rule elects others than with the benchmark's weights: as many joint winners need not be the same ones. */
  isElsewhere(rule, ranks) {
    const own = words.winnersOf(this.own[rule] ?? []);
    return words.winnersOf(ranks).join() !== own.join();
  }

  showChip(chip, text, isElsewhere) {
    write(winnersPart(chip), text);
    const isCompared = !words.isUnranked(text) && !words.isUnranked(chip.dataset.own);
    chip.classList.toggle("is-changed", isCompared && (isElsewhere || text !== chip.dataset.own));
    chip.classList.toggle("is-unranked", !isCompared);
    chip.classList.remove("is-stale");
  }

  showWords(chip, majority, name) {
    write(this.parts.headline, words.headline(name, winnersPart(chip).textContent, chip.dataset.own, chip.classList.contains("is-changed")));
    write(this.parts.majority, majority);
    this.countDissent();
    for (const part of ["movers-head", "live-caption"]) write(this.parts[part].querySelector("[data-chosen-rule]"), name);
  }

  countDissent() {
    const chips = [...this.chips.values()].filter((chip) => !chip.classList.contains("is-unranked"));
    write(this.parts.dissent, words.dissentText(chips.filter((chip) => chip.classList.contains("is-changed")).length, chips.length));
  }

  changeOf(rule, ranks, i) {
    const before = this.own[rule]?.[i] ?? -1;
    return before >= 1 && ranks[i] >= 1 ? before - ranks[i] : 0;
  }

  showColumn(c, rule, ranks) {
    const texts = words.rankTexts(ranks);
    for (const { index, cells } of this.rows) {
      const text = texts[index];
      const change = this.changeOf(rule, ranks, index);
      const names = [FIRST[text] ?? "", change > 0 ? "rise" : change < 0 ? "fall" : ""];
      write(cells[c], text);
      mark(cells[c], names.filter(Boolean).join(" "));
    }
  }

  showRanks(ranks, rule, name) {
    const texts = words.rankTexts(ranks);
    const moved = [];
    for (const { index, place, change } of this.rows) {
      const places = this.changeOf(rule, ranks, index);
      write(place, texts[index]);
      write(change, words.changeText(places));
      mark(change, places > 0 ? "rise" : places < 0 ? "fall" : "");
      if (places) moved.push([index, places]);
    }
    moved.sort(([i, a], [j, b]) => Math.abs(b) - Math.abs(a) || i - j);
    this.showMovers(moved.slice(0, MOST_MOVERS), name);
    const worth = (i) => (ranks[i] < 1 ? Infinity : ranks[i]);
    this.order(this.rows.map(({ index }) => index).sort((i, j) => (worth(i) === worth(j) ? i - j : worth(i) - worth(j))));
  }

  showMovers(moved, rule) {
    const list = this.parts.movers;
    this.moverTexts = moved.map(([i, places]) =>
      words.filled(list.dataset.mover, { system: this.systems[i], change: words.changeText(places), rule }));
    const key = JSON.stringify(moved);
    if (this.moversKey === key) return;
    this.moversKey = key;
    const items = moved.map(([i, places]) => {
      const item = document.createElement("li");
      const figure = document.createElement("b");
      figure.className = places > 0 ? "rise" : "fall";
      figure.textContent = words.changeText(places);
      item.append(figure, ` ${this.systems[i]}`);
      return item;
    });
    if (!items.length) {
      items.push(document.createElement("li"));
      items[0].textContent = list.dataset.none;
    }
    list.replaceChildren(...items);
  }

  /** Put the rows in order; those that move glide from where they were. */
  order(indices) {
    if (indices.every((index, k) => index === this.rowOrder[k])) return;
    const before = new Map(this.rowOrder.map((index, k) => [index, k]));
    let next = this.parts.rows.firstElementChild;
    indices.forEach((index, k) => {
      const { row } = this.byIndex.get(index);
      if (row === next) next = next.nextElementSibling;
      else this.parts.rows.insertBefore(row, next);
      if (before.get(index) !== k && !reducesMotion.matches) this.glide(row, before.get(index), k);
    });
    this.rowOrder = indices;
  }

  /** Let a row that is in sight glide from one place to another. */
  glide(row, from, to) {
    this.gliding.get(row)?.cancel();
    const [first, last] = [this.scrolled / this.rowHeight - 2, (this.scrolled + innerHeight) / this.rowHeight];
    if (Math.max(from, to) < first || Math.min(from, to) > last) return;
    const distance = (from - to) * this.rowHeight;
    this.gliding.set(row, row.animate([{ transform: `translateY(${distance}px)` }, { transform: "none" }], MOVE));
  }

  /** Take over what the server computed: all of it, or the slow rules alone. */
  adopt(page, { onlySlow, isLive }) {
    const slow = new Set([...this.chips.values()].filter((chip) => "slow" in chip.dataset).map((chip) => chip.dataset.rule));
    for (const chip of page.querySelectorAll(".electors li")) {
      const mine = this.chips.get(chip.dataset.rule);
      if (mine && (!onlySlow || slow.has(chip.dataset.rule))) {
        this.showChip(mine, winnersPart(chip).textContent, chip.classList.contains("is-changed"));
      }
    }
    if (!onlySlow) {
      for (const id of ["headline", "majority", "movers", "movers-head", "rows", "live-caption"]) {
        this.parts[id].replaceChildren(...page.querySelector(`#${id}`).childNodes);
      }
      this.moversKey = "";
      this.moverTexts = [...this.parts.movers.children].map((item) => item.textContent);
      this.find();
    } else {
      this.adoptColumns(page, slow);
    }
    this.countDissent();
    if (!isLive) write(this.parts.dissent, page.querySelector("#dissent").textContent);
  }

  adoptColumns(page, rules) {
    const theirs = [...page.querySelectorAll(".live-board th[data-rule]")].map((head) => head.dataset.rule);
    const columns = theirs.flatMap((rule, c) => (rules.has(rule) ? [[c, this.rules.indexOf(rule)]] : []));
    for (const row of page.querySelectorAll("#rows tr")) {
      const mine = this.byIndex.get(Number(row.dataset.system));
      for (const [from, to] of mine ? columns : []) {
        write(mine.cells[to], row.cells[from + 3].textContent);
        mark(mine.cells[to], row.cells[from + 3].className);
      }
    }
  }

  /** Dim what does not belong to these weights yet. */
  dim(isAll) {
    for (const chip of this.chips.values()) if (isAll || "slow" in chip.dataset) chip.classList.add("is-stale");
  }

  announcement() {
    const movers = this.moverTexts?.length ? ` ${this.moverTexts.join(", ")}.` : "";
    return `${this.parts.headline.textContent} ${this.parts.majority.textContent}${movers}`;
  }
}
