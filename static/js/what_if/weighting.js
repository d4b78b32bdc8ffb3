// The weights that the sliders set. A slider sets a share of its level (all votes, or those of a group); what is kept, and
// what the address names, are plain weights. Moving one slider changes one weight, and those of the locked ones, whose
// shares stay.

import { add, asIntegers, effectiveWeights, over, readWeight, tenths, times, toNumber } from "../rules/weights.js";

const MOST = 0.99; // of what the locked ones leave, where others have weight
const isSame = ([a, b], [c, d]) => a * d === c * b;

export class Weighting {
  constructor({ tasks, groups, aggregation: ownAggregation }, aggregation) {
    Object.assign(this, { tasks, groups, aggregation, ownAggregation });
    this.own = { task: tasks.map(({ weight }) => readWeight(weight)), group: groups.map(({ weight }) => readWeight(weight)) };
    this.locked = new Set();
    this.reset();
  }

  reset() {
    this.texts = { task: this.tasks.map(({ weight }) => weight), group: this.groups.map(({ weight }) => weight) };
    this.read = { task: [...this.own.task], group: [...this.own.group] };
  }

  /** Set one weight from its text; false where it is none. */
  set(kind, index, text) {
    const weight = readWeight(text);
    if (!weight) return false;
    this.texts[kind][index] = text.trim();
    this.read[kind][index] = weight;
    return true;
  }

  index(kind, key) {
    return (kind === "group" ? this.groups : this.tasks).findIndex((entry) => entry.key === key);
  }

  get hasGroups() {
    return this.aggregation !== "basic" && this.tasks.some(({ group }) => group >= 0);
  }

  /** Each task's share of all votes: exact integers. Two steps are told as if balanced. */
  effective(read = this.read, aggregation = this.aggregation) {
    const by = aggregation === "two_step" ? "balanced" : aggregation;
    return asIntegers(effectiveWeights(this.tasks, read.task, read.group, by));
  }

  /** Shares for the page: by task and by group in tenths of a percent; null where nothing votes. */
  shares() {
    const integers = this.effective();
    const sumOf = (parts) => parts.reduce((sum, part) => sum + part, 0n);
    const total = sumOf(integers);
    if (!total) return null;
    const byGroup = this.groups.map((_, g) => tenths(sumOf(integers.filter((_, t) => this.tasks[t].group === g)), total));
    return { task: integers.map((integer) => tenths(integer, total)), group: byGroup };
  }

  /** The sliders beside this one: [{kind, index, mass, unit}], of mass = unit x weight. */
  level(kind, index) {
    const isVoting = (t) => this.tasks[t].direction !== 0;
    const task = (t) => ({ kind: "task", index: t, mass: toNumber(this.read.task[t]), unit: 1 });
    const all = [...this.tasks.keys()].filter(isVoting);
    const group = kind === "task" && this.hasGroups ? this.tasks[index].group : -1;
    if (!this.hasGroups) return all.map(task);
    if (group >= 0) return all.filter((t) => this.tasks[t].group === group).map(task);
    const units = this.groups.map((_, g) => {
      const masses = all.filter((t) => this.tasks[t].group === g).map((t) => toNumber(this.read.task[t])).filter((mass) => mass > 0);
      const sum = masses.reduce((a, b) => a + b, 0);
      const unit = !masses.length ? 0 : this.aggregation === "weighted" ? sum / masses.length : 1;
      return { kind: "group", index: g, mass: unit * toNumber(this.read.group[g]), unit };
    });
    const used = units.filter(({ index: g }) => all.some((t) => this.tasks[t].group === g));
    return [...used, ...all.filter((t) => this.tasks[t].group < 0).map(task)];
  }

  /** Every slider's share of its level, from 0 to 1, by kind and index. */
  levelShares() {
    const shares = new Map();
    const add = (level) => {
      const total = level.reduce((sum, { mass }) => sum + mass, 0);
      for (const { kind, index, mass } of level) shares.set(`${kind} ${index}`, total ? mass / total : 0);
    };
    add(this.level("group", -1));
    if (this.hasGroups) {
      for (const g of this.groups.keys()) {
        const member = this.tasks.findIndex(({ group, direction }) => group === g && direction !== 0);
        if (member >= 0) add(this.level("task", member));
      }
    }
    return shares;
  }

  /** Give a slider a share of its level; locked ones keep theirs, the others share what is left as before. */
  setShare(kind, index, wanted) {
    const level = this.level(kind, index);
    const mine = level.find((item) => item.kind === kind && item.index === index);
    const others = level.filter((item) => item !== mine);
    if (!mine.unit) return;
    const isLocked = (item) => this.locked.has(`${item.kind} ${item.index}`);
    const total = level.reduce((sum, { mass }) => sum + mass, 0);
    const held = others.filter(isLocked).reduce((sum, { mass }) => sum + mass, 0) / (total || 1);
    const free = others.filter((item) => !isLocked(item)).reduce((sum, { mass }) => sum + mass, 0);
    if (!free) { // there is nobody to share with: any weight is the same share
      if (!mine.mass && wanted > 0) this.put(mine, 1, 3);
      return;
    }
    const share = Math.min(wanted, (1 - held) * MOST);
    const scale = free / (1 - held - share);
    this.put(mine, share * scale, 3);
    for (const item of others.filter(isLocked)) this.put(item, (item.mass / total) * scale, 4);
  }

  put({ kind, index, unit }, mass, digits) {
    const value = mass / unit;
    const text = value < 0.00005 ? "0" : String(Number(value < 0.01 ? value.toFixed(4) : value.toPrecision(digits)));
    this.set(kind, index, text);
  }

  /** The benchmark's own weights, with 0 for all tasks but those of a group or cluster, or for these. */
  restrict(kin, isLeftOut) {
    this.reset();
    for (const [t, task] of this.tasks.entries()) {
      const isVoting = task.direction !== 0 && this.own.task[t][0] !== 0n;
      if (isVoting && task.kin.includes(kin) === isLeftOut) this.set("task", t, "0");
    }
  }

  changed(kind) {
    const entries = kind === "group" ? this.groups : this.tasks;
    return entries.flatMap(({ key }, i) => (isSame(this.read[kind][i], this.own[kind][i]) ? [] : [`${key}:${this.texts[kind][i]}`]));
  }

  /** The parameters of an address: only what differs from the benchmark's own. */
  parameters() {
    const query = new Map([["weights", this.changed("task").join(",")], ["group_weights", this.changed("group").join(",")]]);
    if (this.aggregation !== this.ownAggregation) query.set("aggregation", this.aggregation);
    return query;
  }

  /** Take the weights that an address names. */
  take(parameters) {
    this.reset();
    for (const [name, kind] of [["weights", "task"], ["group_weights", "group"]]) {
      for (const entry of (parameters.get(name) ?? "").split(",").filter(Boolean)) {
        const [key, text] = entry.split(":");
        const index = this.index(kind, key);
        if (index >= 0) this.set(kind, index, text);
      }
    }
  }

  /** What was changed, as conditions for the prospects page: at least, or at most, the share that it has now. */
  conditions() {
    const [before, after] = [fractions(this.effective(this.own, this.ownAggregation)), fractions(this.effective())];
    const votes = [...this.tasks.keys()].filter((t) => before[t][0] > 0n);
    const bounds = [];
    const bound = (name, tasks) => {
      const sum = (shares) => tasks.reduce((total, t) => add(total, shares[t]), [0n, 1n]);
      const [old, now] = [sum(before), sum(after)];
      if (isSame(old, now)) return;
      const [n, d] = times(now, [1000n, 1n]);
      const isMore = now[0] * old[1] > old[0] * now[1];
      const limit = isMore ? n / d : (n + d - 1n) / d;
      const size = Math.abs(toNumber(now) - toNumber(old));
      bounds.push([size, `${name} ${isMore ? ">=" : "<="} ${limit / 10n}.${limit % 10n}%`]);
    };
    const singles = new Set(votes);
    this.groups.forEach(({ key }, g) => {
      const members = votes.filter((t) => this.tasks[t].group === g);
      if (!members.length || members.some((t) => !isSame(this.read.task[t], this.own.task[t]))) return;
      for (const t of members) singles.delete(t);
      bound(`group:"${key}"`, members);
    });
    for (const t of singles) bound(`"${this.tasks[t].key}"`, [t]);
    bounds.sort(([a], [b]) => b - a);
    return bounds.slice(0, 20).map(([, text]) => text).join("\n");
  }
}

function fractions(integers) {
  const total = integers.reduce((sum, integer) => sum + integer, 0n);
  return integers.map((integer) => over([integer, 1n], [total || 1n, 1n]));
}
