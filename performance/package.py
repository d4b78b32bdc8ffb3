"""What the package `plurank` costs: importing it, and data frames of 1,000 systems on 100 tasks in and out.

PYTHONPATH=. python performance/package.py

Processor seconds of one thread, the least of several runs.
"""

import os
import resource
import subprocess
import sys
import time

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import pandas as pd

import plurank
from plurank.scores import read_scores


def importing(module: str) -> float:
    """The seconds of a process that imports a module and ends."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", f"import {module}"], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def seconds(work) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


if __name__ == "__main__":
    for module in ("numpy", "plurank"):
        print(f"import {module:<8} {min(importing(module) for _ in range(5)):.2f} s")
    values = np.random.default_rng(0).random((1000, 100))
    frame = pd.DataFrame(values, index=[f"s{i}" for i in range(1000)], columns=[f"t{t}" for t in range(100)])
    board = plurank.Board(frame)
    print(f"pandas frame in   {1000 * min(seconds(lambda: read_scores(frame, None, None)) for _ in range(9)):.1f} ms")
    print(f"pandas frame out  {1000 * min(seconds(board.to_frame) for _ in range(9)):.1f} ms")
