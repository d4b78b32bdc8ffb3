// Rules on rates: `ranking_engine/rules/rates.py` once more. A rival is another system with a score on a common task.

const SNAP = 1e-12;
const LEAST = 1e-200; // the size of 0, so that nothing is divided by 0
const HUGE = 1e300;

/** The mean over rivals of the weighted share of common tasks won, ties one half; NaN without a rival. */
export function winRate({ n, wins, common, total }) {
  const rates = new Float64Array(n);
  if (n === 1) return rates;
  for (let i = 0; i < n; i++) {
    let [won, lost, shares, rivals] = [0, 0, 0, 0];
    for (let j = 0; j < n; j++) {
      if (j === i) continue;
      const [mine, theirs] = [wins[i * n + j], wins[j * n + i]];
      if (!common) {
        won += mine;
        lost += theirs;
      } else if (common[i * n + j] > 0) {
        shares += ((mine - theirs) / common[i * n + j] + 1) / 2;
        rivals++;
      }
    }
    const whole = (n - 1) * total;
    rates[i] = common ? shares / rivals : (whole + won - lost) / (2 * whole);
  }
  return rates;
}

/** The mean over rivals of the weighted mean over common tasks of (x - y) / (|x| + |y|); NaN without a rival. */
export function relativeDifference(part) {
  const { n, common, weights, total } = part;
  if (n === 1) return new Float64Array(1);
  const heaviest = weights.reduce((a, b) => Math.max(a, b), 0);
  const shares = weights.map((weight) => weight / heaviest);
  const columns = shrunk(part.scores);
  const sums = new Float64Array(n * n);
  for (let t = 0; t < columns.length; t++) addQuotients(sums, columns[t], part.orders[t].sorted, shares[t], n);
  const differences = new Float64Array(n);
  const rivals = new Int32Array(n);
  for (let i = 0; i < n; i++) {
    for (let j = i + 1; j < n; j++) {
      const whole = common ? common[i * n + j] : total;
      if (!(whole > 0)) continue;
      const average = sums[i * n + j] / (whole / heaviest);
      differences[i] += average;
      differences[j] -= average;
      rivals[i]++;
      rivals[j]++;
    }
  }
  return snapped(differences.map((sum, i) => sum / rivals[i]));
}

function addQuotients(sums, column, present, share, n) {
  const ascending = present.slice().sort();
  for (let k = 0; k < ascending.length; k++) {
    const row = ascending[k] * n;
    const x = column[ascending[k]];
    const size = Math.max(Math.abs(x), LEAST);
    for (let l = k + 1; l < ascending.length; l++) {
      const y = column[ascending[l]];
      sums[row + ascending[l]] += (share * (x - y)) / (size + Math.max(Math.abs(y), LEAST));
    }
  }
}

function shrunk(columns) {
  const isHuge = columns.some((column) => column.some((score) => Math.abs(score) > HUGE));
  return isHuge ? columns.map((column) => column.map((score) => score / 16)) : columns;
}

/** Scores made equal that differ by no more than rounding: neighbours within 1e-12, chained. */
function snapped(scores) {
  const order = Array.from(scores.keys()).filter((i) => !Number.isNaN(scores[i]));
  order.sort((i, j) => scores[i] - scores[j]);
  const equal = scores.slice();
  let lowest = NaN;
  order.forEach((i, k) => {
    if (!k || scores[i] - scores[order[k - 1]] > SNAP) lowest = Math.abs(scores[i]) <= SNAP ? 0 : scores[i];
    equal[i] = lowest;
  });
  return equal;
}
