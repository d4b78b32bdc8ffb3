"""How the studies grow with the number of systems and of tasks: a table and the pictures docs/growth-*.svg.

Processor time of the least that each study does (few repeats, nine rules of all families), of one thread, each size in
a process of its own. A curve ends before a point that takes over SECONDS.

    PYTHONPATH=. python performance/growth.py [--seconds 10] [--studies missing_scores ...]
"""

from __future__ import annotations

import argparse
import json
import math
import os
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import numpy as np  # noqa: E402 -- after the number of threads is set

from ranking_engine import ScoreMatrix  # noqa: E402
from ranking_engine.axioms import witness  # noqa: E402
from ranking_engine.core.synthetic import random_matrix  # noqa: E402
from ranking_engine.prospects import prospects  # noqa: E402
from ranking_engine.stability.bootstrap import rank_intervals  # noqa: E402
from ranking_engine.stability.catalogue import run_study  # noqa: E402

FOLDER = Path(__file__).resolve().parent.parent / "docs"
SYSTEMS, TASKS = (30, 100, 300, 1000, 3000, 5000), (5, 10, 20, 50, 100, 200)
N_TASKS, N_SYSTEMS = 20, 100  # of the boards on which the other number grows
RULES = ("mean", "median", "borda", "dowdall", "copeland", "minimax", "baldwin", "threshold", "win_rate")
SEARCHED = (("borda", "iia"), ("copeland", "consistency"), ("baldwin", "monotonicity"))
LEAST_SHOWN = 1e-3  # seconds

COLOURS = (
    "#07566f", "#a23f00", "#0a6148", "#8a6100", "#5b3a8c", "#a0152f", "#4a5862", "#00599b", "#7a4a2b", "#3d7d1f",
    "#b0008a", "#111111",
)  # fmt: skip
STYLE = """svg { background: #fcfdfc; } text { font: 12px system-ui, sans-serif; fill: #15222b; }
.grid { stroke: #d3dad9; } .line { fill: none; stroke-width: 2px; }"""
WIDTH, HEIGHT, LEFT, TOP, LEGEND = 640, 400, 56, 28, 200


def of_study(key: str, **parameters: Any) -> Callable[[ScoreMatrix], object]:
    """Return what runs a study of the catalogue."""
    return lambda matrix: run_study(key, matrix, parameters)


WORK: dict[str, Callable[[ScoreMatrix], object]] = {
    "missing_scores": of_study("missing_scores", rules=RULES, n_repeats=2, levels=[5, 10]),
    "system_additions": of_study("system_additions", rules=RULES, n_orders=2),
    "task_subsets": of_study("task_subsets", rules=RULES, n_repeats=2),
    "corrupted_tasks": of_study("corrupted_tasks", rules=RULES, n_repeats=2),
    "judge_bootstrap": of_study("judge_bootstrap", rules=RULES, n_trials=20, n_resamples=5, n_rounds=1),
    "diversity": of_study("diversity"),
    "significance": of_study("significance"),
    "cardinal_sensitivity": of_study("cardinal_sensitivity", max_programs=100),
    "ordinal_sensitivity": of_study("ordinal_sensitivity", max_nodes=100),
    "rank_intervals": lambda matrix: rank_intervals(matrix, RULES, n_resamples=20),
    "properties": lambda matrix: [witness(rule, key, matrix, max_steps=20) for rule, key in SEARCHED],
    "prospects": lambda matrix: prospects(matrix, rule="mean", n_draws=1000, max_steps=2000),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--seconds", type=float, default=10.0, help="of processor time: a curve ends before this")
    parser.add_argument("--studies", nargs="+", choices=list(WORK), default=list(WORK), metavar="STUDY")
    chosen = parser.parse_args()
    for grown, sizes in (("systems", SYSTEMS), ("tasks", TASKS)):
        fixed = f"{N_TASKS} tasks" if grown == "systems" else f"{N_SYSTEMS} systems"
        print(f"\n| processor seconds, {fixed} | " + " | ".join(f"{size:,} {grown}" for size in sizes) + " |")
        print("|---|" + "---:|" * len(sizes))
        curves: dict[str, list[tuple[int, float]]] = {}
        for name in chosen.studies:
            curves[name] = []
            for size in sizes:
                seconds = measured(
                    name, *((size, N_TASKS) if grown == "systems" else (N_SYSTEMS, size)), chosen.seconds
                )
                if seconds is None:
                    break
                curves[name].append((size, seconds))
            cells = [f"{seconds:.2g}" for _, seconds in curves[name]]
            cells += [f"over {chosen.seconds:g}"] * (len(cells) < len(sizes)) + [""] * (len(sizes) - len(cells) - 1)
            print(f"| {name.replace('_', ' ')} | " + " | ".join(cells) + " |", flush=True)
        picture = drawn(curves, sizes, grown, f"Processor seconds of each study, {fixed}")
        (FOLDER / f"growth-{grown}.svg").write_text(picture, encoding="utf-8")


def measured(name: str, n_systems: int, n_tasks: int, most: float) -> float | None:
    """The processor seconds of one study of a random board; None where they are more than `most`."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        used = math.ceil(time.process_time() + most)
        resource.setrlimit(resource.RLIMIT_CPU, (used + 1, used + 1))
        values = np.exp(random_matrix(n_systems, n_tasks, seed=0).values / 4)
        began = time.process_time()
        try:
            WORK[name](ScoreMatrix(values))
            os.write(writer, json.dumps(time.process_time() - began).encode())
        except Exception as error:  # noqa: BLE001 -- told, and the curve ends here
            print(f"{name} at {n_systems} x {n_tasks}: {error}", file=sys.stderr)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        text = pipe.read()
    os.waitpid(child, 0)
    return None if not text or json.loads(text) > most else float(json.loads(text))


def drawn(curves: dict[str, list[tuple[int, float]]], sizes: tuple[int, ...], grown: str, title: str) -> str:
    """The curves on logarithmic axes, as SVG."""
    points = [seconds for curve in curves.values() for _, seconds in curve]
    low = math.floor(math.log10(max(LEAST_SHOWN, min(points))))
    high = max(low + 1, math.ceil(math.log10(max(points))))

    def x_of(size: float) -> float:
        return LEFT + WIDTH * math.log(size / sizes[0]) / math.log(sizes[-1] / sizes[0])

    def y_of(seconds: float) -> float:
        return TOP + HEIGHT * (high - math.log10(max(seconds, 10.0**low))) / (high - low)

    whole = f"0 0 {LEFT + WIDTH + LEGEND} {TOP + HEIGHT + 40}"
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{whole}" role="img" aria-label="{title}">',
        f"<style>{STYLE}</style>",
        f"<title>{title}</title>",
        f'<text x="8" y="16">{title}</text>',
    ]
    for power in range(low, high + 1):
        y = y_of(10.0**power)
        lines.append(f'<path class="grid" d="M{LEFT} {y:.1f}h{WIDTH}"/>')
        lines.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{10.0**power:g} s</text>')
    for size in sizes:
        x = x_of(size)
        lines.append(f'<path class="grid" d="M{x:.1f} {TOP}v{HEIGHT}"/>')
        lines.append(f'<text x="{x:.1f}" y="{TOP + HEIGHT + 16}" text-anchor="middle">{size:,}</text>')
    lines.append(f'<text x="{LEFT + WIDTH}" y="{TOP + HEIGHT + 34}" text-anchor="end">{grown}</text>')
    for number, (name, curve) in enumerate(curves.items()):
        colour, dashes = COLOURS[number % len(COLOURS)], ' stroke-dasharray="6 3"' if number % 2 else ""
        path = " ".join(f"{x_of(size):.1f},{y_of(seconds):.1f}" for size, seconds in curve)
        lines.append(f'<polyline class="line" stroke="{colour}"{dashes} points="{path}"/>')
        y = TOP + 12 + 20 * number
        lines.append(f'<path class="line" stroke="{colour}"{dashes} d="M{LEFT + WIDTH + 14} {y}h26"/>')
        lines.append(f'<text x="{LEFT + WIDTH + 46}" y="{y + 4}">{name.replace("_", " ")}</text>')
    return "\n".join([*lines, "</svg>", ""])


if __name__ == "__main__":
    main()
