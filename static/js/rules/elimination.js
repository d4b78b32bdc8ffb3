// Rules that drop systems in rounds: `ranking_engine/rules/elimination.py` once more. A round drops all systems that are
// tied for removal; the score is the round in which a system leaves. Sums are integers, compared exactly. Under Baldwin
// and Nanson systems tied on a task share their points.

/** The systems with the least Borda score leave, until all are tied. */
export function baldwin(part) {
  return dropByBorda(part, (scores, remaining) => {
    let least = Infinity;
    for (const i of remaining) least = Math.min(least, scores[i]);
    return (score) => score === least;
  }, true);
}

/** The systems strictly below the average Borda score leave, until all are tied. */
export function nanson(part) {
  return dropByBorda(part, (scores, remaining) => {
    let sum = 0;
    for (const i of remaining) sum += scores[i];
    return (score) => score * remaining.length < sum;
  }, false);
}

function dropByBorda({ n, wins }, leaving, endsWithAll) {
  const scores = new Float64Array(n);
  // Sums of margins order as Borda scores do when tied systems share points: they are twice these, less a constant.
  const margin = (i, j) => wins[i * n + j] - wins[j * n + i];
  for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) scores[i] += margin(i, j);
  const left = new Float64Array(n);
  let remaining = Array.from({ length: n }, (_, i) => i);
  for (let round = 1; ; round++) {
    const isLeaving = leaving(scores, remaining);
    const gone = [];
    const kept = [];
    for (const i of remaining) {
      left[i] = round;
      (isLeaving(scores[i]) ? gone : kept).push(i);
    }
    if (endsWithAll ? !kept.length : !gone.length) return left;
    for (const i of kept) for (const j of gone) scores[i] -= margin(i, j);
    remaining = kept;
  }
}

/** The systems that are first, alone, on the least weight of tasks leave. */
export const instantRunoff = (part) => dropByVotes(part, { fromEnd: false, dropsMost: false });

/** The systems that are last, alone or not, on the most weight of tasks leave. */
export const coombs = (part) => dropByVotes(part, { fromEnd: true, dropsMost: true });

function dropByVotes(part, { fromEnd, dropsMost }) {
  const { n, orders, weights } = part;
  const left = new Float64Array(n);
  const fronts = orders.map(() => 0); // how many of the sorted systems were passed, all of whom have left
  const votes = new Float64Array(n);
  let remaining = Array.from({ length: n }, (_, i) => i);
  for (let round = 1; ; round++) {
    votes.fill(0);
    for (let t = 0; t < orders.length; t++) {
      const { sorted, place } = orders[t];
      const at = (k) => sorted[fromEnd ? n - 1 - k : k];
      while (left[at(fronts[t])]) fronts[t]++;
      const front = [];
      const block = place[at(fronts[t])];
      for (let k = fronts[t]; k < n && place[at(k)] === block; k++) if (!left[at(k)]) front.push(at(k));
      if (dropsMost || front.length === 1) for (const i of front) votes[i] += weights[t];
    }
    let limit = votes[remaining[0]];
    for (const i of remaining) limit = dropsMost ? Math.max(limit, votes[i]) : Math.min(limit, votes[i]);
    const kept = remaining.filter((i) => votes[i] !== limit);
    for (const i of remaining) if (votes[i] === limit) left[i] = round;
    if (!kept.length) return left;
    remaining = kept;
  }
}
