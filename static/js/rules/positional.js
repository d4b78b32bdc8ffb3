// Rules on positions, and the threshold rule: `ranking_engine/rules/positional.py` and `threshold.py` once more. Systems
// tied on a task all take the worst position of their tie block, under Dowdall the best, under average rank the mean.

import { weightedSums } from "./ranking.js";

function summed(part, name, points) {
  const given = part.once(name, () =>
    part.orders.map(({ first, last }) => Float64Array.from(first, (_, i) => points(first[i], last[i]))));
  return weightedSums(given, part.weights, part.n);
}

export const plurality = (part) => summed(part, "plurality", (first, last) => (last === 0 ? 1 : 0));
export const borda = (part) => summed(part, "borda", (first, last) => part.n - 1 - last);
export const dowdall = (part) => summed(part, "dowdall", (first) => 1 / (first + 1));
export const veto = (part) => summed(part, "veto", (first, last) => (last === part.n - 1 ? -1 : 0));
export const averageRank = (part) =>
  summed(part, "average_rank", (first, last) => -(first + last) / 2 - 1).map((sum) => sum / part.total);

/** The number of systems below that the scores let one expect, of those without the score too. */
export const compatibleBorda = (part) => {
  const { n } = part;
  const given = part.once("compatible_borda", () => part.orders.map(({ first, last, sorted }) => {
    const m = sorted.length;
    return Float64Array.from(first, (at, i) =>
      (at < 0 ? (n - 1) / 2 : ((n + 1) * (m - (at + last[i]) / 2)) / (m + 1) - 1));
  }));
  return weightedSums(given, part.weights, n);
};

/** Minus the rank by the weights at positions n, n - 1, ..., 2, compared lexicographically, less is better. */
export function threshold(part) {
  const n = part.n;
  const table = new Float64Array(n * n); // by system, then position
  part.orders.forEach(({ last }, t) => {
    for (let i = 0; i < n; i++) table[i * n + last[i]] += part.weights[t];
  });
  const compare = (i, j) => {
    for (let position = n - 1; position > 0; position--) {
      const difference = table[i * n + position] - table[j * n + position];
      if (difference) return difference;
    }
    return 0;
  };
  const order = Array.from({ length: n }, (_, i) => i).sort(compare);
  const scores = new Float64Array(n);
  order.forEach((i, k) => {
    scores[i] = k && compare(order[k - 1], i) === 0 ? scores[order[k - 1]] : -(k + 1);
  });
  return scores;
}
