"""No file makes a reader or a metric crash: 150 here for each kind of value, `make fuzz` sends 100,000."""

import contextlib
import io
import json
import os
from random import Random

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from pyarrow import parquet

from ranking_engine.evaluation.metrics import METRICS, UndefinedMetricError, evaluate
from ranking_engine.evaluation.reading import read_predictions, read_references
from ranking_engine.files.problems import InputError
from tests.ranking_engine.odd_values import SCALARS, any_float, text, whole

N_INPUTS = int(os.environ.get("PLURANK_FUZZ_INPUTS", "150"))
# For each kind of value a cheap metric, a reference and a prediction that are sound.
SOUND = {
    "f1": ("cat", "dog", {"positive": "cat"}),
    "rmse": (1.5, -2, {}),
    "pearson": (1.5, -2, {}),
    "roc_auc": ("cat", 0.5, {"positive": "cat"}),
    "brier": ("cat", {"cat": 0.25, "dog": 0.75}, {"positive": "cat"}),
    "mean": (None, 3, {}),
    "answer_f1": (["Paris", "the city"], "Paris", {}),
    "span_f1": (["B-a", "O"], ["O", "I-a"], {}),
    "ter": ("a b c", "a c", {}),
    "cer": ("a b c", "a c", {}),
    "mrr": ({"d1": 1, "d2": 0}, ["d2", "d1"], {}),
}
STRANGE = [
    [], {}, [[]], "nan", "-", 10**400, 1e308, "1e999", "[", "{", '["a"', "\ud800", "\u202e", [{}], "0x1",
]  # fmt: skip
ITEMS = [lambda random: text(random, 3), lambda random: None, whole, lambda random: [None][: random.randint(0, 1)]]
CHANCES = [lambda random: None, any_float, lambda random: text(random, 3)]
ODD = [
    *SCALARS,
    lambda random: [random.choice(ITEMS)(random) for _ in range(random.randint(0, 4))],
    lambda random: {text(random, 3): random.choice(CHANCES)(random) for _ in range(random.randint(0, 3))},
    lambda random: random.choice(STRANGE),
]
SPLICES = [
    b"\n", b",", b'"', b"\0", b"{", b"[" * 3_000, b"\xff", b"NaN", b"9" * 5_000, b"PAR1", b"\xef\xbb\xbf",
]  # fmt: skip


def lines_of(rows) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode("utf-8", "surrogatepass")


def table_of(rows) -> bytes:
    columns = list(dict.fromkeys(name for row in rows for name in row))
    cells = [[json.dumps(row.get(name)) for name in columns] for row in rows]
    quoted = [",".join('"' + cell.replace('"', '""') + '"' for cell in row) for row in cells]
    return "\n".join([",".join(columns), *quoted]).encode(errors="surrogatepass")


def parquet_of(rows) -> bytes:
    stream = io.BytesIO()
    texts = {"id": [str(row["id"]) for row in rows], "prediction": [str(row) for row in rows]}
    # Half of a surrogate pair cannot be written into such a file.
    whole = {name: [text.encode(errors="replace").decode() for text in column] for name, column in texts.items()}
    parquet.write_table(pa.table(whole), stream)
    return stream.getvalue()


def inputs(random, key):
    """A file of references and one of predictions, each with what is odd in it."""
    reference, prediction, _ = SOUND[key]
    files = []
    for column, value in (("reference", reference), ("prediction", prediction)):
        rows = [{"id": k, column: value, "weight": 1, "split": "a"} for k in range(3)]
        for _ in range(random.randint(0, 2)):
            row = random.choice(rows)
            row[random.choice(["id", column, "weight", "split", "cluster", "odd"])] = random.choice(ODD)(random)
        data = random.choice([lines_of, lines_of, table_of, parquet_of])(rows)
        if random.choice([True, False]):
            at, length = random.randint(0, len(data)), random.randint(0, 20)
            splice = random.choice([random.randbytes(random.randint(0, 6)), random.choice(SPLICES)])
            data = data[:at] + splice + data[at + length :]
        files.append(data)
    return files


@pytest.mark.parametrize("key", SOUND)
@given(seed=st.integers(0, 2**64))
@settings(max_examples=N_INPUTS, deadline=None, suppress_health_check=list(HealthCheck))
def test_whatever_is_sent_is_scored_or_refused(key, seed):
    metric, options = METRICS[key], SOUND[key][2]
    files = inputs(Random(seed), key)
    references = read_references(lines_of({"id": k, "reference": SOUND[key][0]} for k in range(3)), "sound", metric)
    with contextlib.suppress(InputError):
        references = read_references(files[0], "references", metric, is_bounded=True)  # not 1,000 processes
    try:
        predictions = read_predictions(files[1], "predictions", references, metric, is_bounded=True)
        result = evaluate(metric, references, predictions, options)
    except (InputError, UndefinedMetricError):
        return
    assert result.n_instances == len(references)
    assert metric.lowest - 1e-9 <= result.value <= metric.highest + 1e-9
    assert result.standard_error is None or result.standard_error > 0
