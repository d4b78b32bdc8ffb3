// What the page says, in the words of `leaderboard/explore/what_if.py`.

const STATUS_WORDS = { no_winner: "no winner", undefined: "no ranking" };
const UNRANKED = ["no ranking", "failed", "computing"];

/** Whether there is no ranking to compare winners with. */
export const isUnranked = (text) => UNRANKED.includes(text);

/** The numbers of those that a rule elects. */
export const winnersOf = (ranks) => Array.from(ranks.keys()).filter((i) => ranks[i] === 1);

/** Who wins: one or two names, or how many win together. */
export function winnersText({ status, ranks }, systems) {
  const winners = winnersOf(ranks);
  if (!winners.length) return STATUS_WORDS[status] ?? "no winner";
  return winners.length > 2 ? `${winners.length} systems jointly` : winners.map((i) => systems[i]).join(", ");
}

export function headline(rule, now, own, isChanged) {
  if (!isChanged) return `First under ${rule}: ${now}, as with the benchmark’s weights.`;
  if (now === own) return `First under ${rule}: ${now}, not the same as with the benchmark’s weights.`;
  return `First under ${rule}: ${now}. With the benchmark’s weights: ${own}.`;
}

export function majorityText({ condorcetWinner, smithSet }, systems) {
  if (condorcetWinner >= 0) return `Condorcet winner: ${systems[condorcetWinner]}.`;
  if (!smithSet.length) return "No Condorcet winner.";
  const names = smithSet.length <= 4 ? smithSet.map((i) => systems[i]).join(", ") : `${smithSet.length} systems`;
  return `No Condorcet winner; the Smith set is ${names}.`;
}

export const dissentText = (n, all) => `The winner changes under ${n} of ${all} rules.`;

export const changeText = (change) => (change > 0 ? `+${change}` : change ? `−${-change}` : "");

/** What the language of the page writes between 1 and 5 of 1.5. */
const MARK = new Intl.NumberFormat(globalThis.document?.documentElement.lang || "en").format(1.5).replace(/[^.,٫]/g, "");

export const shareText = (tenths) => `${Math.floor(tenths / 10)}${MARK}${tenths % 10} %`;

/** Ranks for readers: `=2` where shared, a dash where there is none. */
export function rankTexts(ranks) {
  const holders = new Map();
  for (const rank of ranks) holders.set(rank, (holders.get(rank) ?? 0) + 1);
  return Array.from(ranks, (rank) => (rank < 1 ? "–" : holders.get(rank) > 1 ? `=${rank}` : String(rank)));
}
