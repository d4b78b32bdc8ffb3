// Weights as exact fractions, and what every task weighs under an aggregation: `ranking_engine/core/weights.py` and
// `ranking_engine/core/aggregation.py` once more, in the browser. A fraction is a pair of BigInts [numerator, denominator].

const DECIMAL = /^(\d+)(?:\.(\d*))?(?:e([+-]?\d{1,2}))?$/i;
const RATIO = /^(\d+)\/(\d+)$/;

/** The fraction that a text such as 1, 0.25 or 1/13 denotes; null where it is none. */
export function readWeight(text) {
  const plain = String(text).trim().replace(/^\./, "0.");
  const ratio = RATIO.exec(plain);
  if (ratio) return ratio[2] === "0" ? null : reduced(BigInt(ratio[1]), BigInt(ratio[2]));
  const decimal = DECIMAL.exec(plain);
  if (!decimal || plain.length > 64) return null;
  const digits = decimal[2] ?? "";
  const power = Number(decimal[3] ?? 0) - digits.length;
  const number = BigInt(decimal[1] + digits);
  return power < 0 ? reduced(number, 10n ** BigInt(-power)) : [number * 10n ** BigInt(power), 1n];
}

export function gcd(a, b) {
  while (b) [a, b] = [b, a % b];
  return a;
}

export function reduced(n, d) {
  const common = gcd(n, d) || 1n;
  return [n / common, d / common];
}

export const add = ([a, b], [c, d]) => reduced(a * d + c * b, b * d);
export const times = ([a, b], [c, d]) => reduced(a * c, b * d);
export const over = ([a, b], [c, d]) => reduced(a * d, b * c);
export const toNumber = ([a, b]) => Number(a) / Number(b);

/**
 * What each task weighs under `basic`, `weighted` or `balanced`, as exact fractions; 0 where it does not vote.
 *
 * With v_g the weight of group g and w_t the weight of its task t: w_t; v_g w_t / number of voting tasks in g;
 * v_g w_t / sum of the w of its voting tasks. A task without a group counts its own weight.
 *
 * @param tasks {direction, group} each, `group` an index or -1.
 * @param taskWeights, groupWeights fractions.
 */
export function effectiveWeights(tasks, taskWeights, groupWeights, aggregation) {
  const sums = groupWeights.map(() => [0n, 1n]);
  const counts = groupWeights.map(() => 0n);
  const votes = tasks.map((task, t) => task.direction !== 0 && taskWeights[t][0] > 0n);
  tasks.forEach((task, t) => {
    if (!votes[t] || task.group < 0) return;
    sums[task.group] = add(sums[task.group], taskWeights[t]);
    counts[task.group] += 1n;
  });
  return tasks.map((task, t) => {
    if (!votes[t]) return [0n, 1n];
    if (aggregation === "basic" || task.group < 0) return taskWeights[t];
    const divisor = aggregation === "balanced" ? sums[task.group] : [counts[task.group], 1n];
    return over(times(groupWeights[task.group], taskWeights[t]), divisor);
  });
}

/** Integers in the ratio of `fractions`, as small as can be (BigInts). */
export function asIntegers(fractions) {
  let denominator = 1n;
  for (const [, d] of fractions) denominator = (denominator / gcd(denominator, d)) * d;
  const integers = fractions.map(([n, d]) => n * (denominator / d));
  let common = 0n;
  for (const integer of integers) common = gcd(integer, common);
  return common > 1n ? integers.map((integer) => integer / common) : integers;
}

/** A part of a total (BigInts) in tenths of a percent, the nearest: equal parts read alike. */
export const tenths = (part, total) => (total ? Number((2000n * part + total) / (2n * total)) : 0);
