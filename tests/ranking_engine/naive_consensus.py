"""The definitions of the rules on paths, consensus and rates, word by word and in exact fractions."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np

from tests.ranking_engine.naive import beats, oriented, scored_systems, voting_tasks, wins


def reachable(edges: dict, i, systems) -> set:
    """The systems that a chain of `edges` leads to from i, i among them."""
    reached, frontier = {i}, [i]
    while frontier:
        here = frontier.pop()
        for j in systems:
            if edges[here, j] and j not in reached:
                reached.add(j)
                frontier.append(j)
    return reached


def schwartz_set(matrix):
    """The union of the smallest non-empty sets that no system outside beats."""
    systems, better = scored_systems(matrix), beats(matrix)
    undominated = [
        set(inside)
        for size in range(1, len(systems) + 1)
        for inside in itertools.combinations(systems, size)
        if not any(better[j, i] for i in inside for j in systems if j not in inside)
    ]
    smallest = [inside for inside in undominated if not any(other < inside for other in undominated)]
    return tuple(sorted(set().union(*smallest)))


def uncovered_set(matrix, variant):
    systems, better = scored_systems(matrix), beats(matrix)

    def covers(x, y):
        left = all(better[z, y] for z in systems if better[z, x])
        right = all(better[x, z] for z in systems if better[y, z])
        return better[x, y] and left and (right or variant == "gillies")

    return tuple(y for y in systems if not any(covers(x, y) for x in systems))


def common_tasks(matrix, i, j):
    table = oriented(matrix)
    return [t for t in voting_tasks(matrix) if (i, t) in table and (j, t) in table]


def mean_over_rivals(matrix, compare, *, divide_by_all=False):
    """Average `compare(i, j, t)` over common tasks by weight, then over rivals; without rivals no entry."""
    systems = scored_systems(matrix)
    scores = {}
    for i in systems:
        averages = []
        for j in systems:
            tasks = common_tasks(matrix, i, j)
            if j != i and tasks:
                weight = sum(matrix.weights[t] for t in tasks)
                averages.append(sum(matrix.weights[t] * compare(i, j, t) for t in tasks) / weight)
        if divide_by_all or len(systems) == 1:
            scores[i] = sum(averages, Fraction(0)) / len(systems)
        elif averages:
            scores[i] = sum(averages, Fraction(0)) / len(averages)
    return scores


def win_rate(matrix, variant):
    table = oriented(matrix)
    tie = Fraction(1, 2) if variant == "rivals" else 0

    def compare(i, j, t):
        return 1 if table[i, t] > table[j, t] else tie if table[i, t] == table[j, t] else 0

    if variant != "helm":
        return mean_over_rivals(matrix, compare, divide_by_all=variant == "benchbench")
    systems = scored_systems(matrix)
    scores = {}
    for i in systems:
        shares = {}
        for t in voting_tasks(matrix):
            others = [table[j, t] for j in systems if j != i and (j, t) in table]
            if (i, t) in table and others:
                below = sum(score < table[i, t] for score in others)
                tied = sum(score == table[i, t] for score in others)
                shares[t] = (below + Fraction(tied, 2)) / len(others)
        weight = sum(matrix.weights[t] for t in shares)
        if shares:
            scores[i] = sum(matrix.weights[t] * share for t, share in shares.items()) / weight
        elif len(systems) == 1:
            scores[i] = Fraction(0)
    return scores


def relative_difference(matrix):
    values = {(i, t): Fraction(float(matrix.values[i, t])) for i, t in oriented(matrix)}

    def compare(i, j, t):
        x, y = values[i, t], values[j, t]
        whole = abs(x) + abs(y)
        return int(matrix.directions[t]) * (x - y) / whole if whole else Fraction(0)

    return mean_over_rivals(matrix, compare)


def strengths(matrix, strength):
    """The strength of every victory, by (winner, loser)."""
    systems, won = scored_systems(matrix), wins(matrix)
    return {
        (i, j): won[i, j] - won[j, i] if strength == "margins" else won[i, j]
        for i in systems
        for j in systems
        if won[i, j] > won[j, i]
    }


def strongest_path(victories, systems, i, j):
    """The largest strength s such that victories of at least s lead from i to j; 0 without a path."""
    for level in sorted(set(victories.values()), reverse=True):
        edges = {(a, b): victories.get((a, b), 0) >= level for a in systems for b in systems}
        if j in reachable(edges, i, systems):
            return level
    return 0


def schulze(matrix, strength="margins"):
    systems = scored_systems(matrix)
    victories = strengths(matrix, strength)
    path = {(i, j): strongest_path(victories, systems, i, j) for i in systems for j in systems}
    return {
        i: sum(path[i, j] > path[j, i] for j in systems if j != i)
        - sum(path[j, i] > path[i, j] for j in systems if j != i)
        for i in systems
    }


def schulze_winners(matrix, strength="margins"):
    """The systems that nobody has a stronger path to than they have back."""
    systems = scored_systems(matrix)
    victories = strengths(matrix, strength)
    path = {(i, j): strongest_path(victories, systems, i, j) for i in systems for j in systems}
    return tuple(i for i in systems if not any(path[j, i] > path[i, j] for j in systems if j != i))


def locked_pairs(victories, systems, name, tie_break=None):
    """Lock victories in, strongest first, by name among equals, each unless it would close a circle."""
    locked = dict.fromkeys(itertools.product(systems, systems), False)
    by_name = tie_break or (lambda pair: (name[pair[0]], name[pair[1]]))
    for i, j in sorted(victories, key=lambda pair: (-victories[pair], by_name(pair))):
        if i not in reachable(locked, j, systems):
            locked[i, j] = True
    return locked


def ranked_pairs(matrix, strength="margins"):
    """Return the scores and whether another order of equal strengths gives another result."""
    systems, name = scored_systems(matrix), matrix.system_names
    victories = strengths(matrix, strength)

    def result(tie_break=None):
        locked = locked_pairs(victories, systems, name, tie_break)
        below = {i: reachable(locked, i, systems) - {i} for i in systems}
        return {(i, j): j in below[i] for i in systems for j in systems}

    above = result()
    other_orders = (result(lambda pair, first=first: pair != first) for first in victories)
    decided = any(other != above for other in other_orders)
    scores = {i: sum(above[i, j] for j in systems) - sum(above[j, i] for j in systems) for i in systems}
    return scores, decided


def ranked_pairs_winners(matrix, strength="margins"):
    """The systems that no locked victory is against in some order of equal strengths: every order, level by level."""
    systems = scored_systems(matrix)
    victories = strengths(matrix, strength)
    reached = {frozenset()}
    for level in sorted(set(victories.values()), reverse=True):
        equal = frozenset(pair for pair in victories if victories[pair] == level)
        # An order of the level goes on from what is locked and what is left to take.
        ended, waiting, seen = set(), [(locked, equal) for locked in reached], set()
        while waiting:
            locked, left = here = waiting.pop()
            if here in seen:
                continue
            seen.add(here)
            if not left:
                ended.add(locked)
            edges = {(a, b): (a, b) in locked for a in systems for b in systems}
            for i, j in left:
                closes_circle = i in reachable(edges, j, systems)
                waiting.append((locked if closes_circle else locked | {(i, j)}, left - {(i, j)}))
        reached = ended
    return tuple(i for i in systems if any(all(j != i for _, j in locked) for locked in reached))


def tops_of_stacks(matrix, strength="margins"):
    """The first systems of stacks (Zavist and Tideman 1989), which are the winners of ranked pairs.

    A stack is an order in which whoever is above another reaches it, downwards and by victories or draws, by a chain
    no step of which is weaker than the other's victory over it.
    """
    systems, victories = scored_systems(matrix), strengths(matrix, strength)
    firsts = set()
    for order in itertools.permutations(systems):
        if order[0] in firsts:
            continue
        place = {i: k for k, i in enumerate(order)}

        def is_answered(i, j, place=place):
            against = victories.get((j, i), 0)
            edges = {
                (a, b): place[a] < place[b] and (b, a) not in victories and victories.get((a, b), 0) >= against
                for a in systems
                for b in systems
            }
            return j in reachable(edges, i, systems)

        if all(is_answered(i, j) for i, j in itertools.combinations(order, 2)):
            firsts.add(order[0])
    return tuple(sorted(firsts))


def kemeny_distance(matrix, order):
    """The weight of the tasks that strictly prefer the lower-placed system, over all pairs of `order`."""
    won = wins(matrix)
    return sum((won[j, i] for i, j in itertools.combinations(order, 2)), Fraction(0))


def kemeny(matrix):
    """Return the least distance and all orders that have it, by trying every permutation."""
    systems, won = scored_systems(matrix), wins(matrix)
    cost = {pair: weight for pair, weight in won.items() if weight}
    distances = {
        order: sum((cost.get((j, i), 0) for i, j in itertools.combinations(order, 2)), Fraction(0))
        for order in itertools.permutations(systems)
    }
    least = min(distances.values())
    return least, sorted(order for order, distance in distances.items() if distance == least)


def half_wins(matrix):
    """The weight of the tasks on which i is ahead of j, plus half that of ties."""
    table = oriented(matrix)

    def share(i, j, t):
        return Fraction(1 if table[i, t] > table[j, t] else 0 if table[i, t] < table[j, t] else Fraction(1, 2))

    systems = scored_systems(matrix)
    return {
        (i, j): sum(
            (matrix.weights[t] * share(i, j, t) for t in voting_tasks(matrix) if (i, t) in table and (j, t) in table),
            Fraction(0),
        )
        for i in systems
        for j in systems
        if i != j
    }


def win_components(matrix):
    """The strong components of "has won or tied something", as sets of names."""
    systems, won = scored_systems(matrix), half_wins(matrix)
    edges = {(i, j): i != j and won[i, j] > 0 for i in systems for j in systems}
    reached = {i: reachable(edges, i, systems) for i in systems}
    return {frozenset(matrix.system_names[j] for j in systems if j in reached[i] and i in reached[j]) for i in systems}


def clustered_errors(matrix, strengths, clusters):
    """Standard errors of centred strengths from the pseudo-inverse of the information, and how many clusters count.

    `clusters` has a label for each task. Each is left out as if it had its share of the information.
    """
    table, won = oriented(matrix), half_wins(matrix)
    n, tasks = matrix.n_systems, voting_tasks(matrix)
    chance = [[1 / (1 + math.exp(b - a)) for b in strengths] for a in strengths]
    information = np.zeros((n, n))
    for (i, j), wins_of_i in won.items():
        weight = float(wins_of_i + won[j, i]) * chance[i][j] * chance[j][i]
        information[i, i] += weight
        information[i, j] -= weight
    gradients = {clusters[t]: np.zeros(n) for t in tasks}
    for t in tasks:
        for i, j in won:
            if (i, t) in table and (j, t) in table:
                seen = 1 if table[i, t] > table[j, t] else 0 if table[i, t] < table[j, t] else 0.5
                gradients[clusters[t]][i] += float(matrix.weights[t]) * (seen - chance[i][j])
    sizes = dict.fromkeys(gradients, 0.0)
    for t in tasks:
        sizes[clusters[t]] += float(matrix.weights[t]) * (sum((i, t) in table for i in range(n)) - 1)
    whole, G = sum(sizes.values()), len(sizes)
    bread = np.linalg.pinv(information)
    moves = np.array([bread @ gradients[name] / (1 - sizes[name] / whole) for name in gradients])
    errors = np.sqrt(((moves - moves.mean(axis=0)) ** 2).sum(axis=0) * (G - 1) / G)
    return errors.tolist(), whole**2 / sum(size**2 for size in sizes.values())
