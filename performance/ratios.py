"""How many times as fast studies are as in an older checkout, both run in turns on the same boards, and whether their
figures are the same.

    git worktree add --detach ../old 78c36bf
    PYTHONPATH=. python performance/ratios.py ../old                            GLUE, BIG-Bench Hard and MMLU
    PYTHONPATH=. python performance/ratios.py ../old --boards glue --repeats 3

Each run is a process of its own with one thread; a figure is the least processor time of several runs, without imports.
Both checkouts rank by the rules that both have, with all repeats and no budget; rules that the older one left out of
studies because they were too slow are left out here, too (`--without`).
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
STUDIES = ("missing_scores", "system_additions", "task_subsets", "corrupted_tasks", "judge_bootstrap")
AXIOMS, BOOTSTRAP = "axioms", "bootstrap"
UNLIMITED = 80_000.0  # seconds for slow rules: so that each ranks all repeats
MAX_STEPS = 100  # as the site searches
N_RESAMPLES = 1000
SAME = 1e-6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("older", type=Path, help="the older checkout")
    parser.add_argument("--boards", nargs="+", default=["glue", "bigbench-hard", "mmlu"], metavar="KEY")
    parser.add_argument("--studies", nargs="+", default=[*STUDIES, AXIOMS, BOOTSTRAP], metavar="STUDY")
    parser.add_argument("--repeats", type=int, default=3, metavar="N", help="runs of each checkout")
    parser.add_argument("--without", nargs="*", default=["kemeny", "bradley_terry"], metavar="RULE")
    chosen = parser.parse_args()
    roots = {"older": chosen.older.resolve(), "this": ROOT}
    known = {name: run(root, {"what": "known"}) for name, root in roots.items()}
    rules = [rule for rule in known["older"]["rules"] if rule in known["this"]["rules"] and rule not in chosen.without]
    searches = [
        pair for pair in known["this"]["lacked"] if pair[0] in rules and pair[1] in known["older"]["properties"]
    ]
    print(f"{len(rules)} rules; {len(searches)} searches for violations\n")
    print("| board | study | older, s | this, s | ratio | figures that differ |")
    print("|---|---|---:|---:|---:|---|")
    for key in chosen.boards:
        board = run(ROOT, {"what": "board", "key": key})
        for study in chosen.studies:
            task = {"what": study, "board": board, "rules": rules, "searches": searches}
            results: dict[str, list[dict[str, Any]]] = {name: [] for name in roots}
            for _ in range(chosen.repeats):
                for name, root in roots.items():
                    results[name].append(run(root, task))
            if reason := results["this"][0].get("reason"):
                print(f"| {key} | {study} | | | | {reason} |", flush=True)
                continue
            older, this = (min(result["seconds"] for result in results[name]) for name in roots)
            before, after = (results[name][0]["figures"] for name in roots)
            common = before.keys() & after.keys()
            different = [name for name in common if not is_same(before[name], after[name])]
            of_rules = {rule for rule in rules for name in different if rule in name.replace(".", " ").split()}
            noted = f": {', '.join(sorted(of_rules))}" if different else ""
            print(
                f"| {key} | {study.replace('_', ' ')} | {older:.2f} | {this:.2f} | {older / this:.1f} "
                f"| {len(different)} of {len(common)}{noted} |",
                flush=True,
            )


def is_same(before: float | None, after: float | None) -> bool:
    """Whether two figures are the same up to rounding."""
    return before == after or (before is not None and after is not None and abs(before - after) <= SAME)


def run(root: Path, task: dict[str, Any]) -> Any:
    """Run one task with the engine of a checkout, in a process of its own."""
    environment = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "task.json").write_text(json.dumps(task))
        subprocess.run(
            [sys.executable, __file__, "--worker", str(root), folder],
            check=True,
            env={**os.environ, **environment, "PYTHONPATH": str(root)},
        )
        return json.loads((Path(folder) / "answer.json").read_text())


def work(folder: Path) -> None:
    """What the process does: one task, by whichever engine is on the path."""
    task = json.loads((folder / "task.json").read_text())
    (folder / "answer.json").write_text(json.dumps(answer(task)))


def answer(task: dict[str, Any]) -> Any:
    """The answer to a task: what the engine knows, a board, or seconds and figures of a study."""
    import numpy as np

    import ranking_engine
    from ranking_engine.axioms import PROPERTIES, entry, witness
    from ranking_engine.stability.bootstrap import rank_intervals
    from ranking_engine.stability.catalogue import run_study

    what = task["what"]
    if what == "known":
        ranking_rules = [key for key, rule in ranking_engine.RULES.items() if not rule.parameters]
        pairs = [(rule, key) for rule in ranking_rules for key in PROPERTIES if not entry(rule, key).holds]
        return {"rules": ranking_rules, "properties": list(PROPERTIES), "lacked": pairs}
    if what == "board":
        from ranking_engine.files.benchmark_file import read_benchmark, to_matrix
        from ranking_engine.files.tables import read_table

        path = ROOT / "leaderboard" / "demonstration" / task["key"]
        table = to_matrix(read_table(path / "scores.csv"), read_benchmark(path / "benchmark.toml"))
        numbers = {name: getattr(table, name).tolist() for name in ("values", "minimum", "maximum", "chance")}
        names = {"system_names": list(table.system_names), "task_names": list(table.task_names)}
        weights = [str(weight) for weight in table.weights]
        return {**numbers, **names, "directions": table.directions.tolist(), "weights": weights, "gamma": table.gamma}
    from fractions import Fraction

    given = dict(task["board"])
    scales = {name: np.array(given.pop(name), dtype=float) for name in ("minimum", "maximum", "chance")}
    weights = [Fraction(weight) for weight in given.pop("weights")]
    matrix = ranking_engine.ScoreMatrix(np.array(given.pop("values"), dtype=float), weights=weights, **scales, **given)
    figures: dict[str, float | None] = {}
    began = time.process_time()
    if what == AXIOMS:
        for rule, key in task["searches"]:
            options = {"missing": "drop_systems"}
            search = witness(rule, key, matrix, options=options, seed=0, max_steps=MAX_STEPS)
            figures[f"{rule} {key}"] = float(search.witness is not None)
    elif what == BOOTSTRAP:
        intervals = rank_intervals(matrix, task["rules"], n_resamples=N_RESAMPLES, budget=UNLIMITED)
        if intervals.status == "undefined":
            return {"reason": intervals.reason}
        for rule in intervals.lower:
            for end in ("lower", "upper"):
                figures |= {f"{rule} {end} {i}": float(x) for i, x in enumerate(getattr(intervals, end)[rule])}
    else:
        result = run_study(what, matrix, {"rules": task["rules"], "budget": UNLIMITED})
        figures = flat(result.summary["rules"])
    return {"seconds": time.process_time() - began, "figures": figures}


def flat(value: Any, name: str = "") -> dict[str, float | None]:
    """Every number of nested records and lists, by where it is."""
    if isinstance(value, dict):
        return {inner: x for key, part in value.items() for inner, x in flat(part, f"{name}.{key}").items()}
    if isinstance(value, list):
        return {inner: x for k, part in enumerate(value) for inner, x in flat(part, f"{name}.{k}").items()}
    return {name: value} if value is None or isinstance(value, (int, float)) else {}


if __name__ == "__main__":
    if sys.argv[1:2] == ["--worker"]:
        sys.path = [path for path in sys.path if Path(path).resolve() != Path(__file__).resolve().parent]
        sys.path.insert(0, sys.argv[2])
        work(Path(sys.argv[3]))
    else:
        main()
