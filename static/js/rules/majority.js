// Rules and sets of the majority relation: `ranking_engine/rules/majority.py` and `choice_sets.py` once more.

/** The rows of the systems: how many each beats, how many beat it, and the heaviest vote of a rival that beats it. */
function duels({ n, wins }) {
  const won = new Int32Array(n);
  const lost = new Int32Array(n);
  const worst = new Float64Array(n);
  for (let i = 0; i < n; i++) {
    for (let j = i + 1; j < n; j++) {
      const mine = wins[i * n + j];
      const theirs = wins[j * n + i];
      if (mine > theirs) {
        won[i]++;
        lost[j]++;
        if (mine > worst[j]) worst[j] = mine;
      } else if (theirs > mine) {
        won[j]++;
        lost[i]++;
        if (theirs > worst[i]) worst[i] = theirs;
      }
    }
  }
  return { won, lost, worst };
}

export function copeland(part) {
  const { won, lost } = duels(part);
  return Float64Array.from(won, (count, i) => count - lost[i]);
}

export const minimax = (part) => duels(part).worst.map((weight) => 0 - weight);

/** The number of its rivals for the system that beats them all, NaN for the others; null where there is none. */
export function condorcet(part) {
  const { won } = duels(part);
  const winner = won.indexOf(part.n - 1);
  return winner < 0 ? null : Float64Array.from(won, (_, i) => (i === winner ? part.n - 1 : NaN));
}

/** The number of pairs of systems without a common task. */
export function nApart({ n, common }) {
  let pairs = 0;
  for (let i = 0; common && i < n; i++) for (let j = i + 1; j < n; j++) if (!common[i * n + j]) pairs++;
  return pairs;
}

/** The smallest set of systems each of which beats every system outside it, as indices of the whole table. */
export function smithSet(part) {
  const { n, wins } = part;
  const { won, lost } = duels(part);
  const order = Array.from(won.keys()).sort((i, j) => won[j] - lost[j] - won[i] + lost[i] || i - j);
  let size = 0;
  for (let k = 0; k <= size && k < n; k++) {
    for (let l = n - 1; l > size; l--) {
      if (!(wins[order[k] * n + order[l]] > wins[order[l] * n + order[k]])) {
        size = l;
        break;
      }
    }
  }
  return order.slice(0, size + 1).map((i) => part.systems[i]).sort((i, j) => i - j);
}
