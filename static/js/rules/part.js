// What a rule ranks: scored systems and voting tasks, with the order that each task makes and the pairwise comparison.
// `ranking_engine/core/profile.py`, `task_order.py` and `pairwise.py` once more.

/**
 * @property systems the index of each row in the whole table.
 * @property tasks the index of each column in the whole table.
 * @property scores oriented scores, one Float64Array a task; NaN is missing.
 * @property orders how each task orders the systems.
 */
export class Part {
  constructor(systems, tasks, scores) {
    this.systems = systems;
    this.tasks = tasks;
    this.scores = scores;
    this.n = systems.length;
    this.orders = scores.map(taskOrder);
    this.isComplete = this.orders.every((order) => order.sorted.length === this.n);
    this.weights = new Float64Array(tasks.length); // those that `wins` and `common` are of
    this.total = 0;
    this.known = new Map();
    this.wins = new Float64Array(this.n * this.n);
    this.common = this.isComplete ? null : new Float64Array(this.n * this.n);
  }

  /** Weigh the tasks anew; `all` holds integers by the index of the whole table. Only what changes is added. */
  weigh(all) {
    this.total = 0;
    for (let t = 0; t < this.tasks.length; t++) {
      const weight = all[this.tasks[t]];
      const change = weight - this.weights[t];
      this.total += weight;
      if (!change) continue;
      addWins(this.wins, this.orders[t], this.n, change);
      if (this.common) addCommon(this.common, this.orders[t].sorted, this.n, change);
      this.weights[t] = weight;
    }
  }

  /** What does not depend on the weights is worked out once. */
  once(name, make) {
    if (!this.known.has(name)) this.known.set(name, make());
    return this.known.get(name);
  }

  /** Carry scores of this part's systems back to all `n` systems. */
  carried(scores, n) {
    const all = new Float64Array(n).fill(NaN);
    for (let i = 0; i < this.n; i++) all[this.systems[i]] = scores[i];
    return all;
  }
}

/** The systems with a score, best first; the first and last position (from 0) of each one's tie block; its place. */
function taskOrder(scores) {
  const n = scores.length;
  const sorted = [];
  for (let i = 0; i < n; i++) if (!Number.isNaN(scores[i])) sorted.push(i);
  sorted.sort((i, j) => scores[j] - scores[i] || i - j);
  const [first, last, place] = [0, 0, 0].map(() => new Int32Array(n).fill(-1));
  for (let start = 0, block = 1; start < sorted.length; block++) {
    let end = start;
    while (end + 1 < sorted.length && scores[sorted[end + 1]] === scores[sorted[start]]) end++;
    for (let k = start; k <= end; k++) {
      first[sorted[k]] = start;
      last[sorted[k]] = end;
      place[sorted[k]] = block;
    }
    start = end + 1;
  }
  return { sorted: Int32Array.from(sorted), first, last, place };
}

function addWins(wins, { sorted, last }, n, change) {
  for (let k = 0; k < sorted.length; k++) {
    const row = sorted[k] * n;
    for (let below = last[sorted[k]] + 1; below < sorted.length; below++) wins[row + sorted[below]] += change;
  }
}

function addCommon(common, present, n, change) {
  for (let k = 0; k < present.length; k++) {
    const row = present[k] * n;
    for (let l = 0; l < present.length; l++) common[row + present[l]] += change;
  }
}
