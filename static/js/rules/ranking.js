// From rule scores to ranks: `ranking_engine/core/ranking.py` once more.

export const UNRANKED = -1;
export const TIE_TOLERANCE = 1e-9; // consecutive scores within this share of the largest |score| tie

/** Ranks 1, 2, 2, 4 by `scores` (higher is better), -1 where NaN; near ties chain. */
export function ranksOf(scores) {
  const order = [];
  let largest = 0;
  for (let i = 0; i < scores.length; i++) {
    if (Number.isNaN(scores[i])) continue;
    order.push(i);
    largest = Math.max(largest, Math.abs(scores[i]));
  }
  order.sort((i, j) => scores[j] - scores[i] || i - j);
  const ranks = new Int32Array(scores.length).fill(UNRANKED);
  const tolerance = TIE_TOLERANCE * largest;
  let rank = 1;
  for (let k = 0; k < order.length; k++) {
    if (k && !(scores[order[k - 1]] - scores[order[k]] <= tolerance)) rank = k + 1;
    ranks[order[k]] = rank;
  }
  return ranks;
}

/** sum_t weights[t] columns[t][i] for each i, with the error of every addition carried along (Neumaier 1974). */
export function weightedSums(columns, weights, n) {
  const sums = new Float64Array(n);
  const errors = new Float64Array(n);
  for (let t = 0; t < columns.length; t++) {
    const column = columns[t];
    const weight = weights[t];
    for (let i = 0; i < n; i++) {
      const term = weight * column[i];
      const sum = sums[i] + term;
      errors[i] += Math.abs(sums[i]) >= Math.abs(term) ? sums[i] - sum + term : term - sum + sums[i];
      sums[i] = sum;
    }
  }
  for (let i = 0; i < n; i++) sums[i] += errors[i];
  return sums;
}
