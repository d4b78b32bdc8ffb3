"""How long 100,000 predictions take from the bytes of two files to the figure with its standard error, by metric.

Each metric in a process of its own, so that the import of its library counts and the memory is its own. Times are
seconds of processor time.

    PYTHONPATH=. python performance/scoring/predictions.py             every metric
    PYTHONPATH=. python performance/scoring/predictions.py accuracy    some of them
"""

import json
import resource
import subprocess
import sys
import time

import numpy as np

from ranking_engine.evaluation.metrics import METRICS, Kind, evaluate
from ranking_engine.evaluation.reading import read_predictions, read_references

N = 100_000
LABELS = [f"label {k}" for k in range(10)]
WORDS = [f"word{k}" for k in range(2_000)]
TAGS = ["O", "O", "O", "B-a", "I-a", "B-b", "I-b"]
N_WORDS = 20  # of a text; the distance of texts takes the product of their lengths


def cells_of(kind, generator, n):
    """Random values of a kind, one a row."""
    if kind == Kind.LABEL:
        return [LABELS[k] for k in generator.integers(0, len(LABELS), n)]
    if kind == Kind.NUMBER:
        return generator.normal(size=n).round(6).tolist()
    if kind == Kind.PROBABILITIES:
        rows = generator.dirichlet(np.ones(len(LABELS)), n)
        return [dict(zip(LABELS, row, strict=True)) for row in rows.tolist()]
    if kind in (Kind.TEXT, Kind.TEXTS):
        return [" ".join(WORDS[k] for k in row) for row in generator.integers(0, len(WORDS), (n, N_WORDS))]
    if kind == Kind.TAGS:
        return [[TAGS[k] for k in row] for row in generator.integers(0, len(TAGS), (n, N_WORDS))]
    if kind == Kind.RELEVANCE:
        return [{f"d{k}": 1 for k in row} for row in generator.integers(0, 100, (n, 5))]
    return [[f"d{k}" for k in row] for row in np.argsort(generator.random((n, 100)), axis=1)[:, :20]]


def spoiled(references, others, generator):
    """Predictions of which seven of ten are right."""
    kept = generator.random(len(references)) < 0.7
    return [first if keep else other for first, other, keep in zip(references, others, kept, strict=True)]


def lines_of(column, cells):
    """The file, as JSON lines."""
    return "".join(json.dumps({"id": k, column: cell}) + "\n" for k, cell in enumerate(cells)).encode()


def measure(key):
    """Seconds and megabytes of one metric, as a line of JSON."""
    metric, generator = METRICS[key], np.random.default_rng(0)
    truth = cells_of(metric.reference_kind, generator, N) if metric.reference_kind != Kind.NOTHING else [""] * N
    predictions = cells_of(metric.prediction_kind, generator, N)
    if {metric.reference_kind, metric.prediction_kind} <= {Kind.LABEL, Kind.TEXT, Kind.TEXTS, Kind.TAGS}:
        predictions = spoiled(truth, predictions, generator)
    files = lines_of("reference", truth), lines_of("prediction", predictions)
    options = {"positive": LABELS[0]} if any(option.is_needed for option in metric.options) else {}
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.process_time()
    references = read_references(files[0], "references", metric)
    read = read_predictions(files[1], "predictions", references, metric)
    middle = time.process_time()
    result = evaluate(metric, references, read, options)
    end = time.process_time()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps([middle - start, end - middle, (peak - before) / 1024, result.value, result.standard_error]))


def main():
    if len(sys.argv) == 3 and sys.argv[1] == "--measure":
        measure(sys.argv[2])
        return
    print("| metric | reading (s) | scoring (s) | memory (MB) |\n|---|---|---|---|")
    for key in sys.argv[1:] or METRICS:
        command = [sys.executable, __file__, "--measure", key]
        run = subprocess.run(command, capture_output=True, text=True, check=True)
        reading, scoring, memory, *_ = json.loads(run.stdout)
        print(f"| {METRICS[key].name} | {reading:.1f} | {scoring:.1f} | {memory:.0f} |", flush=True)


if __name__ == "__main__":
    main()
