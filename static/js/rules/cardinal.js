// Rules on the scores themselves: `ranking_engine/rules/cardinal.py` once more. Each takes a part and the whole table
// and returns a score for each system of the part, or null where it is undefined.

import { decimal } from "./decimals.js";
import { weightedSums } from "./ranking.js";

const OVERFLOW = 1e290; // products with weights and their sums stay finite below
const SHRINK = 2 ** -100;
const CANCELLED = 1e-6; // a mean that is so much smaller than what it is of has lost digits that decide ties

export function mean(part) {
  const means = weightedMean(part, "mean", () => part.scores);
  for (let i = 0; i < part.n; i++) {
    let size = 0;
    for (const [t, column] of part.scores.entries()) size += Math.abs(column[i]) * (part.weights[t] / part.total);
    if (Math.abs(means[i]) < CANCELLED * size) means[i] = exactMean(part, i);
  }
  return means;
}

/** The mean of the decimals that denote the scores, which cancel out but for what rounding leaves. */
function exactMean(part, i) {
  const terms = part.scores.map((column, t) => {
    const [score, weight] = [decimal(column[i]), decimal(part.weights[t])];
    return [score[0] * weight[0], score[1] + weight[1]];
  });
  const least = Math.min(...terms.map(([, power]) => power));
  let sum = 0n;
  for (const [digits, power] of terms) sum += digits * 10n ** BigInt(power - least);
  return Number(`${sum}e${least}`) / part.total;
}

export function geometricMean(part, table) {
  const logarithms = () => part.scores.map((column) => column.map((score) => (score > 0 ? Math.log(score) : 0)));
  return ofPositiveScores(part, table, () => weightedMean(part, "geometric", logarithms).map(Math.exp));
}

export function harmonicMean(part, table) {
  return ofPositiveScores(part, table, () => {
    const { least } = part.once("mean bounds", () => bounds(part.scores, part.n));
    const inverses = () => part.scores.map((column) => column.map((score, i) => (score > 0 ? least[i] / score : 1)));
    return weightedMean(part, "harmonic", inverses).map((mean, i) => least[i] / mean);
  });
}

/** A mean that only systems have whose scores are all above 0. */
function ofPositiveScores(part, table, means) {
  if (hasLower(part, table)) return null;
  const isLow = part.once("not positive", () =>
    Array.from({ length: part.n }, (_, i) => part.scores.some((column) => column[i] <= 0)));
  const limits = part.once("mean bounds", () => bounds(part.scores, part.n));
  return clipped(means(), limits).map((mean, i) => (isLow[i] ? NaN : mean));
}

/** The score on the task on which a system does worst. */
export const worstTask = (part) => part.once("mean bounds", () => bounds(part.scores, part.n)).least.slice();

/** The midpoint of the lower and the upper weighted median. */
export function median(part) {
  const medians = new Float64Array(part.n);
  const ascending = part.once("ascending", () =>
    Array.from({ length: part.n }, (_, i) => Array.from(part.tasks.keys()).sort((s, t) => part.scores[s][i] - part.scores[t][i])));
  for (let i = 0; i < part.n; i++) {
    const tasks = ascending[i];
    let upTo = 0;
    let low = NaN;
    for (const t of tasks) {
      upTo += part.weights[t];
      if (Number.isNaN(low) && 2 * upTo >= part.total) low = part.scores[t][i];
      if (2 * upTo > part.total) {
        const high = part.scores[t][i];
        medians[i] = low === high ? low : low / 2 + high / 2;
        break;
      }
    }
  }
  return medians;
}

/** The weighted mean of (x - chance) / (best - chance) on the scores as stored. */
export function normalizedMean(part, table) {
  const tasks = Array.from(part.tasks, (t) => table.tasks[t]);
  const spans = tasks.map((task) => (task.direction > 0 ? task.maximum : task.minimum) - task.chance);
  if (tasks.some((task, t) => !(spans[t] * task.direction > 0))) return null;
  return weightedMean(part, "normalized", () => part.scores.map((column, t) =>
    column.map((score) => (score * tasks[t].direction - tasks[t].chance) / spans[t])));
}

export function optimalityGap(part, table) {
  if (table.gamma === null || hasLower(part, table)) return null;
  return weightedMean(part, "gap", () =>
    part.scores.map((column) => column.map((score) => Math.min(score, table.gamma) - table.gamma)));
}

function hasLower(part, table) {
  return part.tasks.some((t) => table.tasks[t].direction < 0);
}

function weightedMean(part, name, make) {
  const columns = part.once(name, make);
  const limits = part.once(`${name} bounds`, () => bounds(columns, part.n));
  let size = 0;
  for (let i = 0; i < part.n; i++) size = Math.max(size, Math.abs(limits.least[i]), Math.abs(limits.most[i]));
  const isHuge = size * part.weights.reduce((a, b) => Math.max(a, b), 0) > OVERFLOW;
  const terms = isHuge ? columns.map((column) => column.map((score) => score * SHRINK)) : columns;
  const means = weightedSums(terms, part.weights, part.n);
  for (let i = 0; i < part.n; i++) means[i] = isHuge ? means[i] / part.total / SHRINK : means[i] / part.total;
  return clipped(means, limits);
}

/** The least and the greatest score of each system. */
function bounds(columns, n) {
  const [least, most] = [new Float64Array(n).fill(Infinity), new Float64Array(n).fill(-Infinity)];
  for (const column of columns) {
    for (let i = 0; i < n; i++) {
      if (column[i] < least[i]) least[i] = column[i];
      if (column[i] > most[i]) most[i] = column[i];
    }
  }
  return { least, most };
}

/** No mean lies outside what it is a mean of, whatever was rounded. */
const clipped = (means, { least, most }) => means.map((value, i) => Math.min(Math.max(value, least[i]), most[i]));
