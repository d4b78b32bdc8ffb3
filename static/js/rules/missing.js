// What becomes of missing scores: `ranking_engine/core/missing.py` once more.

import { asScore } from "./decimals.js";
import { Part } from "./part.js";

/** The systems with a score on a voting task, and the voting tasks, gaps and all; null where there is none. */
export function scoredPart(table, votes) {
  const tasks = indices(votes.length, (t) => votes[t]);
  const systems = indices(table.n, (i) => tasks.some((t) => !Number.isNaN(table.scores[t][i])));
  return systems.length ? cut(table.scores, systems, tasks) : null;
}

/** A part without gaps, made by a policy; null where the policy leaves nothing to rank. `tasks` are the whole table's. */
export function completePart(native, policy, tasks) {
  if (!native || native.isComplete) return native;
  return POLICIES[policy](native, tasks);
}

const POLICIES = {
  undefined: () => null,
  drop_systems(native) {
    const kept = indices(native.n, (i) => native.scores.every((column) => !Number.isNaN(column[i])));
    return kept.length ? narrowed(native, kept, indices(native.tasks.length, () => true)) : null;
  },
  drop_tasks(native) {
    const kept = indices(native.tasks.length, (t) => native.orders[t].sorted.length === native.n);
    return kept.length ? narrowed(native, indices(native.n, () => true), kept) : null;
  },
  median: (native, tasks) => imputed(native, (sorted, t) => asScore(median(sorted), tasks[t].precision)),
  worst: (native) => imputed(native, (sorted) => sorted[0]),
};

function imputed(native, substitute) {
  const kept = indices(native.tasks.length, (t) => native.orders[t].sorted.length > 0);
  const columns = kept.map((t) => {
    const sorted = native.scores[t].filter((score) => !Number.isNaN(score)).sort();
    const value = sorted.length === native.n ? NaN : substitute(sorted, native.tasks[t]);
    return native.scores[t].map((score) => (Number.isNaN(score) ? value : score));
  });
  return new Part(native.systems, Int32Array.from(kept, (t) => native.tasks[t]), columns);
}

function median(sorted) {
  const half = sorted.length >> 1;
  return sorted.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

function cut(scores, systems, tasks) {
  const columns = Array.from(tasks, (t) => Float64Array.from(systems, (i) => scores[t][i]));
  return new Part(Int32Array.from(systems), Int32Array.from(tasks), columns);
}

function narrowed(native, systems, tasks) {
  const part = cut(native.scores, systems, tasks);
  part.systems = part.systems.map((i) => native.systems[i]);
  part.tasks = part.tasks.map((t) => native.tasks[t]);
  return part;
}

function indices(n, isKept) {
  const kept = [];
  for (let i = 0; i < n; i++) if (isKept(i)) kept.push(i);
  return kept;
}
