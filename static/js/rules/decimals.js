// Scores as the decimal numbers that people wrote: `ranking_engine/core/decimals.py` once more.

const DIGITS = 12;
const HALF = "5".padEnd(21 - DIGITS, "0"); // what follows the digits of a number halfway between two decimals

/** A number to 12 significant digits; one halfway between two such decimals goes to the even one. */
export function rounded(number) {
  const [digits, power] = Math.abs(number).toExponential(20).split("e");
  const kept = digits.slice(0, DIGITS + 1); // with the point
  const isEven = Number(kept.at(-1)) % 2 === 0;
  if (digits.slice(DIGITS + 1) !== HALF || !isEven) return Number(number.toPrecision(DIGITS));
  return Math.sign(number) * Number(`${kept}e${power}`);
}

/** The nearest multiple of a precision, exactly; halves go to the even multiple. `precision` is a number or its text. */
export function roundedTo(number, precision) {
  const [score, unit] = [decimal(Math.abs(number)), decimal(Number(precision))];
  const least = Math.min(score[1], unit[1]);
  const [whole, step] = [score, unit].map(([digits, power]) => digits * 10n ** BigInt(power - least));
  const rest = 2n * (whole % step);
  let count = whole / step;
  if (rest > step || (rest === step && count % 2n)) count += 1n;
  return rounded(Math.sign(number) * Number(`${count * step}e${least}`)) + 0;
}

/** A score as it is ranked; `precision` is null where its task states none. */
export function asScore(number, precision) {
  const score = rounded(number);
  return precision === null || precision === undefined || Number.isNaN(score) ? score : roundedTo(score, precision);
}

/** A number as [digits, power of ten]. */
export function decimal(number) {
  const [digits, power] = Math.abs(number).toExponential().split("e");
  const [whole, rest = ""] = digits.split(".");
  return [BigInt(Math.sign(number)) * BigInt(whole + rest), Number(power) - rest.length];
}
