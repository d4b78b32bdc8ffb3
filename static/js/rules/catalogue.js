// The quick rules, and a contest: one table of scores ranked again and again under changing weights.

import * as cardinal from "./cardinal.js";
import * as elimination from "./elimination.js";
import { condorcet, copeland, minimax, smithSet } from "./majority.js";
import { completePart, scoredPart } from "./missing.js";
import * as positional from "./positional.js";
import { relativeDifference, winRate } from "./rates.js";
import { ranksOf } from "./ranking.js";
import { asIntegers, effectiveWeights } from "./weights.js";

const complete = (score) => ({ score, isNative: false });
const native = (score) => ({ score, isNative: true });

export const RULES = {
  mean: complete(cardinal.mean),
  geometric_mean: complete(cardinal.geometricMean),
  harmonic_mean: complete(cardinal.harmonicMean),
  worst_task: complete(cardinal.worstTask),
  median: complete(cardinal.median),
  normalized_mean: complete(cardinal.normalizedMean),
  optimality_gap: complete(cardinal.optimalityGap),
  plurality: complete(positional.plurality),
  borda: complete(positional.borda),
  dowdall: complete(positional.dowdall),
  average_rank: complete(positional.averageRank),
  veto: complete(positional.veto),
  threshold: complete(positional.threshold),
  baldwin: complete(elimination.baldwin),
  nanson: complete(elimination.nanson),
  instant_runoff: complete(elimination.instantRunoff),
  coombs: complete(elimination.coombs),
  condorcet: native(condorcet),
  copeland: native(copeland),
  minimax: native(minimax),
  win_rate: native(winRate),
  relative_difference: native(relativeDifference),
};

const PARTS_KEPT = 8; // sets of voting tasks whose orders and comparisons are remembered

/** A table of scores. `tasks` have direction, group (an index or -1) and scale; values[i][t] is null where missing. */
export class Contest {
  constructor({ tasks, values, gamma }) {
    const number = (value) => value ?? NaN;
    this.table = {
      n: values.length,
      gamma,
      tasks: tasks.map((task) => ({
        ...task, minimum: number(task.minimum), maximum: number(task.maximum), chance: number(task.chance),
      })),
      scores: tasks.map(({ direction }, t) =>
        Float64Array.from(values, (row) => (row[t] === null || !direction ? NaN : row[t] * direction + 0))),
    };
    this.parts = new Map();
  }

  /**
   * Rank under weights.
   *
   * @param weights {tasks, groups}: exact fractions.
   * @returns {rankings: {rule: {status, ranks}}, integers, condorcetWinner, smithSet}, or null where no task votes or
   *   the weights are too long for this machine's exact integers.
   */
  rank(weights, { aggregation, policy, rules }) {
    const fractions = effectiveWeights(this.table.tasks, weights.tasks, weights.groups, aggregation);
    const integers = asIntegers(fractions);
    const total = Number(integers.reduce((sum, integer) => sum + integer, 0n));
    if (!total || total * Math.max(this.table.n, 2) ** 2 > Number.MAX_SAFE_INTEGER) return null;
    const numbers = Float64Array.from(integers, Number);
    const parts = this.partsOf(numbers, policy);
    const rankings = {};
    for (const rule of rules) if (rule in RULES) rankings[rule] = this.rankingOf(rule, parts);
    const winner = parts.native && rankings.condorcet ? rankings.condorcet.ranks.indexOf(1) : -1;
    return { rankings, integers, condorcetWinner: winner, smithSet: parts.native ? smithSet(parts.native) : [] };
  }

  rankingOf(rule, parts) {
    const { score, isNative } = RULES[rule];
    const part = isNative ? parts.native : parts.complete;
    const found = part && score(part, this.table);
    const scores = found && !found.every(Number.isNaN) ? found : null; // where nobody is ranked the rule is undefined
    const status = scores ? (rule === "condorcet" ? "winner_only" : "ranked") : null;
    if (scores) return { status, ranks: ranksOf(part.carried(scores, this.table.n)) };
    const nobody = rule === "condorcet" && part ? "no_winner" : "undefined";
    return { status: nobody, ranks: new Int32Array(this.table.n).fill(-1) };
  }

  partsOf(numbers, policy) {
    const votes = Array.from(numbers, (weight) => weight > 0);
    const key = policy + votes.map(Number).join("");
    let parts = this.parts.get(key);
    if (!parts) {
      const scored = scoredPart(this.table, votes);
      parts = { native: scored, complete: completePart(scored, policy, this.table.tasks) };
      if (this.parts.size >= PARTS_KEPT) this.parts.delete(this.parts.keys().next().value);
      this.parts.set(key, parts);
    }
    parts.native?.weigh(numbers);
    if (parts.complete !== parts.native) parts.complete?.weigh(numbers);
    return parts;
  }
}
