"""No file makes a reader or a metric crash: 150 here for each kind of value, `make fuzz` sends 100,000."""

import contextlib
import io
import json
import os

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from pyarrow import parquet

from ranking_engine.evaluation.metrics import METRICS, UndefinedMetricError, evaluate
from ranking_engine.evaluation.reading import read_predictions, read_references
from ranking_engine.files.problems import InputError

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
ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=8),
    st.lists(st.one_of(st.text(max_size=3), st.none(), st.integers(), st.lists(st.none(), max_size=1)), max_size=4),
    st.dictionaries(st.text(max_size=3), st.one_of(st.none(), st.floats(), st.text(max_size=3)), max_size=3),
    st.sampled_from(
        [[], {}, [[]], "nan", "-", 10**400, 1e308, "1e999", "[", "{", '["a"', "\ud800", "\u202e", [{}], "0x1"]
    ),
)
SPLICES = st.one_of(
    st.binary(max_size=6),
    st.sampled_from(
        [b"\n", b",", b'"', b"\0", b"{", b"[" * 3_000, b"\xff", b"NaN", b"9" * 5_000, b"PAR1", b"\xef\xbb\xbf"]
    ),
)


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


@st.composite
def inputs(draw, key):
    """A file of references and one of predictions, each with what is odd in it."""
    reference, prediction, _ = SOUND[key]
    files = []
    for column, value in (("reference", reference), ("prediction", prediction)):
        rows = [{"id": k, column: value, "weight": 1, "split": "a"} for k in range(3)]
        for _ in range(draw(st.integers(0, 2))):
            row = rows[draw(st.integers(0, 2))]
            row[draw(st.sampled_from(["id", column, "weight", "split", "cluster", "odd"]))] = draw(ODD)
        data = draw(st.sampled_from([lines_of, lines_of, table_of, parquet_of]))(rows)
        if draw(st.booleans()):
            at, length = draw(st.integers(0, len(data))), draw(st.integers(0, 20))
            data = data[:at] + draw(SPLICES) + data[at + length :]
        files.append(data)
    return files


@pytest.mark.parametrize("key", SOUND)
@given(data=st.data())
@settings(max_examples=N_INPUTS, deadline=None, suppress_health_check=list(HealthCheck))
def test_whatever_is_sent_is_scored_or_refused(key, data):
    metric, options = METRICS[key], SOUND[key][2]
    files = data.draw(inputs(key))
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
