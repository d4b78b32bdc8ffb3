// The quick rules, and a contest: one table of scores ranked again and again under changing weights.

import * as cardinal from "./cardinal.js";
import * as elimination from "./elimination.js";
import * as majority from "./majority.js";
import { completePart, scoredPart } from "./missing.js";
import * as positional from "./positional.js";
import { ranksOf } from "./ranking.js";
import * as rates from "./rates.js";
import { asIntegers, effectiveWeights } from "./weights.js";

const FUNCTIONS = { ...cardinal, ...elimination, ...majority, ...positional, ...rates };

/** The function that scores by a rule, undefined where this machine has none: that of `average_rank` is `averageRank`. */
const functionOf = (rule) => FUNCTIONS[rule.replace(/_(.)/g, (_, letter) => letter.toUpperCase())];

const PARTS_KEPT = 8; // sets of voting tasks whose orders and comparisons are remembered

/**
 * A table of scores. `tasks` have direction, group (an index or -1) and scale; values[i][t] is null where missing; `rules`
 * are those of the engine's catalogue, with what their records say of them.
 */
export class Contest {
  constructor({ tasks, values, gamma, rules = [] }) {
    const number = (value) => value ?? NaN;
    this.rules = new Map(rules.filter(({ key }) => functionOf(key)).map((rule) => [rule.key, rule]));
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
   * @returns {rankings: {rule: {status, ranks}}, integers, condorcetWinner, smithSet, nApart}, or null where no task votes or
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
    for (const rule of rules) if (this.rules.has(rule)) rankings[rule] = this.rankingOf(rule, parts);
    const winner = parts.native && rankings.condorcet ? rankings.condorcet.ranks.indexOf(1) : -1;
    return {
      rankings,
      integers,
      condorcetWinner: winner,
      smithSet: parts.native ? majority.smithSet(parts.native) : [],
      nApart: parts.native ? majority.nApart(parts.native) : 0,
    };
  }

  rankingOf(rule, parts) {
    const { needs_complete: needsComplete, elects_only: electsOnly } = this.rules.get(rule);
    const part = needsComplete ? parts.complete : parts.native;
    const scores = part && functionOf(rule)(part, this.table);
    if (scores && !scores.every(Number.isNaN)) {
      return { status: electsOnly ? "winner_only" : "ranked", ranks: ranksOf(part.carried(scores, this.table.n)) };
    }
    // Where nobody is ranked a rule that ranks is undefined.
    return { status: electsOnly && part ? "no_winner" : "undefined", ranks: new Int32Array(this.table.n).fill(-1) };
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
