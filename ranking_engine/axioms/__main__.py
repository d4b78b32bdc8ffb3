"""`python -m ranking_engine.axioms witness RULE`: search a counter-example of every property that a rule lacks.

They are stored beside those of the other rules, for the rule's page and the tests; those that the rule had before are
replaced. What is not found is said, and the command then fails: either the record says too little of the rule, or the
search has to go on with another `--seed`. Last it prints the tables in which leaving out a score pays, for the record.
"""

from __future__ import annotations

import argparse
import sys

from ranking_engine.axioms.sentences import sentence
from ranking_engine.axioms.small_boards import lacked, smallest_witness
from ranking_engine.axioms.stored import StoredWitness, store_witnesses
from ranking_engine.axioms.table import convention_of
from ranking_engine.catalogue.omission import first_witness, searched_policies
from ranking_engine.catalogue.registry import RULES


def main(arguments: list[str] | None = None) -> int:
    """Run the command; 1 where something is not found."""
    parser = argparse.ArgumentParser(prog="python -m ranking_engine.axioms", description=__doc__)
    command = parser.add_subparsers(required=True, metavar="COMMAND").add_parser("witness", help="search and store")
    command.add_argument("rule", choices=list(RULES), metavar="RULE", help="the key of a rule")
    command.add_argument("--seed", type=int, default=0, help="of the random boards (default: 0)")
    arguments_read = parser.parse_args(arguments)
    witnesses: list[StoredWitness] = []
    n_missing = 0
    for options, key in lacked(arguments_read.rule):
        stored = smallest_witness(arguments_read.rule, key, options, seed=arguments_read.seed)
        where = convention_of(arguments_read.rule, options) or "by itself"
        if stored is None:
            n_missing += 1
            print(f"{key} ({where}): no violation found")
        else:
            witnesses.append(stored)
            print(f"{key} ({where}): {sentence(stored.witness)}", flush=True)
    store_witnesses(arguments_read.rule, witnesses)
    for policy in searched_policies(RULES[arguments_read.rule]):
        example = first_witness(arguments_read.rule, policy)
        if example is not None:
            table = "|".join(" ".join(f"{score:g}" for score in row) for row in example.table)
            print(
                f'"{policy}": Omission("{table}", {example.weight}, {example.task}, {example.before}, {example.after}),'
            )
    return 1 if n_missing else 0


if __name__ == "__main__":
    sys.exit(main())
