// What the page says, in the texts of `leaderboard/explore/what_if_texts.py`, which the page has in its language.

const texts = JSON.parse(document.getElementById("what-if").dataset.texts);

/** A text with its values in the places, such as `{n}`. */
export const filled = (text, values) => text.replace(/\{(\w+)\}/g, (place, name) => values[name] ?? place);

/** Whether there is no ranking to compare winners with. */
export const isUnranked = (text) => [texts.undefined, texts.failed, texts.computing].includes(text);

/** The numbers of those that a rule elects. */
export const winnersOf = (ranks) => Array.from(ranks.keys()).filter((i) => ranks[i] === 1);

/** Who wins: one or two names, or how many win together. */
export function winnersText({ status, ranks }, systems) {
  const winners = winnersOf(ranks);
  if (!winners.length) return texts[status] ?? texts.no_winner;
  return winners.length > 2 ? filled(texts.jointly, { n: winners.length }) : winners.map((i) => systems[i]).join(", ");
}

export function headline(rule, now, own, isChanged) {
  const text = !isChanged ? texts.as_own : now === own ? texts.not_the_same : texts.changed;
  return filled(text, { chip: rule, winners_text: now, own_text: own });
}

export function majorityText({ condorcetWinner, smithSet, nApart }, systems) {
  if (condorcetWinner >= 0) return filled(texts.condorcet_winner, { winner: systems[condorcetWinner] });
  const apart = nApart ? ` ${filled(texts.apart, { n: nApart.toLocaleString("en") })}` : "";
  if (!smithSet.length) return texts.no_condorcet_winner + apart;
  const isShort = smithSet.length <= 4;
  const names = isShort ? smithSet.map((i) => systems[i]).join(", ") : filled(texts.systems, { n: smithSet.length });
  return filled(texts.smith_set, { names }) + apart;
}

export const dissentText = (n, all) => filled(texts.dissent, { n, sum: all });

export const changeText = (change) => (change > 0 ? `+${change}` : change ? `−${-change}` : "");

/** What the language of the page writes between 1 and 5 of 1.5. */
const MARK = new Intl.NumberFormat(document.documentElement.lang || "en").format(1.5).replace(/[^.,٫]/g, "");

export const shareText = (tenths) => `${Math.floor(tenths / 10)}${MARK}${tenths % 10} %`;

/** Ranks for readers: `=2` where shared, a dash where there is none. */
export function rankTexts(ranks) {
  const holders = new Map();
  for (const rank of ranks) holders.set(rank, (holders.get(rank) ?? 0) + 1);
  return Array.from(ranks, (rank) => (rank < 1 ? "–" : holders.get(rank) > 1 ? `=${rank}` : String(rank)));
}
