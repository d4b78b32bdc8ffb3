"""Other packages beside ours, on the same data in the same run: how the numbers agree, and the ratio of the times.

    make bench-peers
    PYTHONPATH=. python performance/peers.py [--peer ranky ...] [--seconds 20] [--keep FOLDER]

Each peer is installed from the package index that pip is configured for, into a throwaway virtual environment of its
own, and runs there, in performance/_peer_worker.py. A peer that cannot be installed, raises or does not end within
--seconds has that said in its row. --keep installs into FOLDER and leaves the environments there for the next run.

- ranky runs as it is; its `kemeny_young` is cut to 4 of its 1,000 generations, which would take 20 minutes.
- pref_voting runs as it is, on strict orders: most of its rules fail on ties.
- corankco is patched in memory to use the free solver that it ships; see the worker.
- benchbench is installed without its dependencies: torch, several gigabytes, serves its sensitivity search alone.
- evalica and arena-rank also run to the last digit, which is not their default.

Times are processor seconds of one thread, children included, the least of several runs, from an array of scores to the
result: ours include building the matrix, a peer's its own preparations.
"""

from __future__ import annotations

import argparse
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
for variable in THREADS:
    os.environ.setdefault(variable, "1")

import numpy as np  # noqa: E402 -- after the number of threads is set

from performance._notebook_peers import NOTEBOOK_CASES  # noqa: E402
from performance.votes._peers import VOTE_CASES  # noqa: E402
from ranking_engine import Pairwise, Ranking, ScoreMatrix, rank, smith_set  # noqa: E402
from ranking_engine.core.synthetic import random_matrix  # noqa: E402
from ranking_engine.core.task_distances import weighted_distance  # noqa: E402
from ranking_engine.files.benchmark_file import read_benchmark, to_matrix  # noqa: E402
from ranking_engine.files.tables import read_table  # noqa: E402
from ranking_engine.stability.diversity import diversity  # noqa: E402

HERE = Path(__file__).resolve().parent
DEMONSTRATION = HERE.parent / "leaderboard" / "demonstration"
INSTALL_SECONDS = 900
PACKAGES = {
    "ranky": ["ranky"],
    "pref_voting": ["pref_voting"],
    "corankco": ["corankco"],
    "benchbench": ["--no-deps", "benchbench"],
    "evalica": ["evalica"],
    "arena-rank": ["arena-rank"],
    "choix": ["choix"],
    "scikit-posthocs": ["scikit-posthocs"],
    "autorank": ["autorank"],
}
ALSO = {"benchbench": ["numpy", "pandas", "scipy"]}
KEMENY_SECONDS = 30.0


class Agreement(NamedTuple):
    """How two results agree; the times of two that differ do not compare."""

    text: str
    is_same: bool = True


@dataclass(frozen=True)
class Case:
    """One computation of a peer and ours of the same thing.

    Attributes:
        peer, call: whose it is, and its name in the worker.
        data: a name for `matrix`, whose oriented scores the peer gets.
        ours: computes the same from the matrix, rebuilt.
        agree: compares our result with the peer's.
        goal: the least ratio of the times that is asked for; None where none is.
    """

    peer: str
    call: str
    data: str
    matrix: ScoreMatrix
    ours: Callable[[ScoreMatrix], Any]
    agree: Callable[[Any, Any], Agreement]
    goal: float | None = None


@dataclass(frozen=True)
class Row:
    """A line of the table; without seconds where the peer has no answer."""

    case: Case
    agreement: Agreement
    our_seconds: float
    peer_seconds: float | None = None

    @property
    def ratio(self) -> float:
        """How many times as long the peer takes."""
        return float("nan") if self.peer_seconds is None else self.peer_seconds / self.our_seconds


# --- What is compared ---------------------------------------------------------------------------------------
def ranky_cases() -> Iterator[Case]:
    """Pairwise rules, and two that need no pairs, on the size of a large competition."""
    values = np.exp(random_matrix(292, 76, seed=0).values / 4)
    matrix, rivals = ScoreMatrix(values), 291  # ranky sums over rivals where we take the mean

    def scores(rule: str, factor: float = 1.0, **options: str) -> Callable[[ScoreMatrix], np.ndarray]:
        return lambda built: factor * rank(built, rule, **options).scores

    for call, ours, goal in (
        ("copeland", scores("copeland", variant="lower_with_ties"), 50.0),
        ("success_rate", scores("win_rate", rivals, variant="success_rate"), 50.0),
        ("relative_difference", scores("relative_difference", rivals), 50.0),
        ("borda", scores("average_rank", -1.0), None),
        ("majority", scores("median"), None),
    ):
        yield Case("ranky", call, "random 292x76", matrix, ours, numbers, goal)
    yield kemeny_case("ranky", "kemeny_young", "vtab", demonstration("vtab"), goal=1.0)


def pref_voting_cases() -> Iterator[Case]:
    """Winners on strict orders, and Kemeny's rule on as few systems as it can do."""
    # Without a Condorcet winner nobody may stop early.
    matrix = random_matrix(105, 15, seed=1, kind="uniform")
    rules = {
        "copeland": "copeland", "minimax": "minimax", "beat_path": "schulze", "ranked_pairs_tb": "ranked_pairs",
        "borda": "borda", "plurality": "plurality", "baldwin": "baldwin", "strict_nanson": "nanson",
        "instant_runoff": "instant_runoff", "coombs": "coombs",
    }  # fmt: skip
    for call, rule in rules.items():
        agreement = one_of_winners if call == "ranked_pairs_tb" else winners
        yield Case(
            "pref_voting", call, "random 105x15", matrix,
            lambda built, rule=rule: rank(built, rule).winners, agreement, 10.0,
        )  # fmt: skip
    yield Case(
        "pref_voting", "smith_set", "random 105x15", matrix, lambda built: smith_set(Pairwise.of(built)), winners, 10.0
    )
    small = random_matrix(7, 15, seed=1)
    yield kemeny_case("pref_voting", "kemeny_young_rankings", "random 7x15", small, goal=1.0)


def corankco_cases() -> Iterator[Case]:
    """Exact Kemeny on every demonstration benchmark."""
    for key in ("vtab", "superglue"):
        yield kemeny_case("corankco", "ExactAlgorithmPulp", key, demonstration(key), goal=1.0)
    for folder in sorted(DEMONSTRATION.iterdir()):
        yield kemeny_case("corankco", "ParCons", folder.name, demonstration(folder.name), goal=1.0)


def benchbench_cases() -> Iterator[Case]:
    """Its win rate, and how much tasks disagree."""
    for key in ("helm-lite", "mmlu"):
        matrix = demonstration(key)
        yield Case(
            "benchbench", "WinningRate", key, matrix,
            lambda built: rank(built, "win_rate", variant="benchbench").scores, numbers,
        )  # fmt: skip
    for key in ("vtab", "mmlu"):
        yield Case("benchbench", "get_diversity", key, demonstration(key), disagreement, half_ranks)


def notebook_cases(peer: str) -> Iterator[Case]:
    """What packages for notebooks and for votes compute."""
    if peer in NOTEBOOK_CASES:
        for case in NOTEBOOK_CASES[peer](demonstration("glue")):
            yield Case(peer, *case, agree=numbers)
    for case in VOTE_CASES[peer]() if peer in VOTE_CASES else ():
        yield Case(peer, *case, agree=partial(numbers, most=1e-6))


CASES: dict[str, Callable[[], Iterator[Case]]] = {
    "ranky": ranky_cases,
    "pref_voting": pref_voting_cases,
    "corankco": corankco_cases,
    "benchbench": benchbench_cases,
    **{peer: partial(notebook_cases, peer) for peer in (*NOTEBOOK_CASES, *VOTE_CASES)},
}


def demonstration(key: str) -> ScoreMatrix:
    """A demonstration benchmark, every task of weight 1: the peers know no weights."""
    folder = DEMONSTRATION / key
    matrix = to_matrix(read_table(folder / "scores.csv"), read_benchmark(folder / "benchmark.toml"))
    return matrix.with_weights([1] * matrix.n_tasks)


def kemeny_case(peer: str, call: str, data: str, matrix: ScoreMatrix, goal: float) -> Case:
    """Kemeny's rule: distances compare, orders need not, as there may be several best ones."""

    def agree(ours: Ranking, theirs: list[float]) -> Agreement:
        details = ours.details
        proof = "proven" if details["proven"] else f"NOT PROVEN (bound {details['lower_bound']:g})"
        distance = weighted_distance(matrix, Ranking.from_scores("kemeny", np.array(theirs)))
        return Agreement(
            f"distance {details['distance']:g} {proof}, theirs {distance:g}", distance <= details["distance"]
        )

    return Case(peer, call, data, matrix, lambda built: rank(built, "kemeny", seconds=KEMENY_SECONDS), agree, goal)


def disagreement(matrix: ScoreMatrix) -> tuple[float, float]:
    """1 - Kendall's W, and the mean max rank change."""
    measures = diversity(matrix)
    return measures.diversity, measures.mean_max_rank_change


# --- How results agree --------------------------------------------------------------------------------------
def numbers(ours: np.ndarray, theirs: list[float], most: float = 1e-9) -> Agreement:
    """The largest difference, relative to the largest number; up to `most` it is none."""
    difference = float(np.abs(ours - np.array(theirs)).max() / np.abs(ours).max())
    if difference == 0:
        return Agreement("numbers equal")
    return Agreement(f"numbers differ by {difference:.0e}", difference < most)


def winners(ours: tuple[int, ...], theirs: list[float]) -> Agreement:
    """Whether the winners are the same."""
    if set(ours) == {int(i) for i in theirs}:
        return Agreement("winners equal")
    return Agreement(f"winners {sorted(ours)}, theirs {sorted(int(i) for i in theirs)}", is_same=False)


def one_of_winners(ours: tuple[int, ...], theirs: list[float]) -> Agreement:
    """Whether the peer's winner under one order of equal victories is among ours under any order."""
    if {int(i) for i in theirs} <= set(ours):
        return Agreement(f"theirs is one of {len(ours)} winners")
    return Agreement(f"winners {sorted(ours)}, theirs {sorted(int(i) for i in theirs)}", is_same=False)


def half_ranks(ours: tuple[float, float], theirs: list[float]) -> Agreement:
    """Diversity, and the mean max rank change: the peer cuts half ranks off in the first."""
    cut = "" if abs(ours[0] - theirs[0]) < 1e-12 else " (it cuts ranks such as 2.5 to 2)"
    return Agreement(f"1 - W {ours[0]:.4f}, theirs {theirs[0]:.4f}{cut}; MRC differs by {abs(ours[1] - theirs[1]):.0e}")


# --- Running ------------------------------------------------------------------------------------------------
class Worker:
    """A peer's process; started again after it was ended for taking too long."""

    def __init__(self, python: Path, peer: str, log: Path) -> None:
        self.command = [str(python), str(HERE / "_peer_worker.py"), peer]
        self.log = log
        self.process: subprocess.Popen[str] | None = None

    def ask(self, case: Case, seconds: float) -> dict[str, Any]:
        """The worker's answer, or an error after `seconds`."""
        if self.process is None or self.process.poll() is not None:
            with self.log.open("a") as log:
                self.process = subprocess.Popen(
                    self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log,
                    text=True, start_new_session=True,
                )  # fmt: skip
        stdin, stdout = self.process.stdin, self.process.stdout
        request = {"case": case.call, "scores": case.matrix.scores.tolist()}
        try:
            print(json.dumps(request), file=stdin, flush=True)
        except BrokenPipeError:
            return {"error": f"it does not start; see {self.log}"}
        if not select.select([stdout], [], [], seconds)[0]:
            self.end()
            return {"error": f"no answer within {seconds:g} s"}
        line = stdout.readline()
        return json.loads(line) if line else {"error": f"it broke off; see {self.log}"}

    def end(self) -> None:
        """End the process and whatever it started."""
        if self.process is not None and self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        self.process = None


def installed(peer: str, folder: Path) -> Path:
    """The Python of an environment with `peer`; made unless it is there already.

    Raises:
        RuntimeError: pip failed, with its last line.
    """
    python, stamp = folder / peer / "bin" / "python", folder / peer / "installed"
    if stamp.exists():
        return python
    print(f"Installing {peer} ...", file=sys.stderr, flush=True)
    venv.create(folder / peer, with_pip=True, clear=True)
    for packages in (PACKAGES[peer], ALSO.get(peer, [])):
        if packages:
            command = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages]
            try:
                done = subprocess.run(command, capture_output=True, text=True, timeout=INSTALL_SECONDS, check=False)
            except subprocess.TimeoutExpired as error:
                raise RuntimeError(f"not installed within {INSTALL_SECONDS} s") from error
            if done.returncode:
                raise RuntimeError((done.stderr.strip() or "pip failed").splitlines()[-1])
    stamp.touch()
    return python


def timed(case: Case) -> tuple[float, Any]:
    """Our least processor seconds of several runs, and our result; each run builds the matrix anew."""
    matrix, best, result = case.matrix, float("inf"), None
    started, n_runs = time.perf_counter(), 0
    while n_runs < 3 or (n_runs < 50 and time.perf_counter() - started < 0.5):
        before = time.process_time()
        built = ScoreMatrix(
            matrix.values, system_names=matrix.system_names, task_names=matrix.task_names,
            directions=matrix.directions, weights=matrix.weights,
        )  # fmt: skip
        result = case.ours(built)
        best, n_runs = min(best, time.process_time() - before), n_runs + 1
    return best, result


def compared(peer: str, folder: Path, seconds: float) -> Iterator[Row]:
    """Every case of one peer."""
    try:
        worker, problem = Worker(installed(peer, folder), peer, folder / f"{peer}.log"), ""
    except (RuntimeError, OSError) as error:
        worker, problem = None, f"could not be installed: {error}"
    for case in CASES[peer]():
        our_seconds, ours = timed(case)
        if worker is None:
            yield Row(case, Agreement(problem), our_seconds)
            continue
        reply = worker.ask(case, seconds)
        if "error" in reply:
            own = f"; ours {ours.details['distance']:g}, proven {ours.details['proven']}" if is_kemeny(ours) else ""
            yield Row(case, Agreement(reply["error"] + own), our_seconds)
        else:
            yield Row(case, case.agree(ours, reply["result"]), our_seconds, reply["seconds"])
    if worker is not None:
        worker.end()


def is_kemeny(ours: Any) -> bool:
    """Whether it is a ranking by Kemeny's rule."""
    return isinstance(ours, Ranking) and ours.rule == "kemeny"


def line(row: Row) -> str:
    """A row as text."""
    theirs = "-" if row.peer_seconds is None else f"{row.peer_seconds:.4f}"
    ratio = "-" if row.peer_seconds is None else f"{row.ratio:,.0f}x" if row.ratio >= 10 else f"{row.ratio:.1f}x"
    case = row.case
    is_short = case.goal is not None and row.ratio < case.goal and row.agreement.is_same
    verdict = f"  BELOW THE GOAL of {case.goal:g}x" if is_short else ""
    return (
        f"{case.peer:16}{case.call:25}{case.data:23}{theirs:>10}{row.our_seconds:>10.4f}{ratio:>9}"
        f"  {row.agreement.text}{verdict}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer", action="append", choices=list(CASES), help="only this one; may be repeated")
    parser.add_argument("--seconds", type=float, default=20.0, help="the most that a peer may take for a case")
    parser.add_argument("--keep", type=Path, help="a folder for the environments, which stay there")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="peers-") as temporary:
        folder = options.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        print(f"{'peer':16}{'its function':25}{'data':23}{'theirs s':>10}{'ours s':>10}{'ratio':>9}  agreement")
        for peer in options.peer or CASES:
            for row in compared(peer, folder.resolve(), options.seconds):
                print(line(row), flush=True)


if __name__ == "__main__":
    main()
