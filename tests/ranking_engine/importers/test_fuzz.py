"""No input makes an importer crash or hang: 500 here for each format, `make fuzz` sends 100,000."""

import json
import math
import os
from random import Random

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from ranking_engine.files.problems import InputError
from ranking_engine.importers import Recognised, SourceFile, read_results
from tests.ranking_engine.importers.examples import EXAMPLES, FILES, LONG_TABLE, TABLES
from tests.ranking_engine.importers.test_samples import detail, details_of, results_of, sample, samples_of
from tests.ranking_engine.odd_values import SCALARS, text

DETAILS = details_of([detail("a", acc=1, em=0.5), detail("b", acc=0, em=None)])
PACKED = (
    "details",
    "inspect_ai-0.3.285.eval",
    "openpyxl-3.1.5.xlsx",
    "odfpy-1.4.1.ods",
    "pandas-3.1.1.parquet",
    "folder.zip",
)
SOUND = {
    **EXAMPLES,
    "long table": LONG_TABLE,
    **{f"table as {name}": [file] for name, file in TABLES.items()},
    "samples": [results_of({"quiz": {"acc": 0.5}}), samples_of([sample(0, acc=1), sample(1, "strict", acc=0)])],
    "samples alone": [samples_of([sample(0, acc=1, f1=[0, 1]), sample("b", acc=True)])],
    "details": [DETAILS],
    **{name: [FILES[name]] for name in PACKED[1:]},
}
N_INPUTS = int(os.environ.get("PLURANK_FUZZ_INPUTS", "500"))
STRANGE = [
    [], {}, [[]], "N/A", "-", 10**400, 1e308, "1e999", "a,b", "a|5", "x:_average", "\ud800", "\u202e", [{}],
]  # fmt: skip
SPLICES = [
    b"\n", b",", b'"', b"\0", b"&a [*a]", b"- ", b": ", b"{", b"[" * 60, b"!!binary x", b"1:60:1", b"---\n", b"|",
    b"<td>", b"<table>", b"&", b"\\\\", b"\xff", b"\xc2\xb1", b"1,250", b"%", b"PK\x01\x02",
]  # fmt: skip
ODD = [*SCALARS, *[lambda random: random.choice(STRANGE)] * 2]


def _places(document, path=()):
    """The path to every node of a document."""
    yield path
    inner = (
        document.items() if isinstance(document, dict) else enumerate(document) if isinstance(document, list) else ()
    )
    for key, value in inner:
        yield from _places(value, (*path, key))


def _put(document, path, value, rename):
    """The document with another value, or under another key, at the path."""
    if not path:
        return value
    copied = document.copy()
    if rename is not None and len(path) == 1 and isinstance(copied, dict):
        copied[rename] = copied.pop(path[0])
    else:
        copied[path[0]] = _put(copied[path[0]], path[1:], value, rename)
    return copied


def changed(random, key):
    """The files of an example with something else in one or two places, or with other bytes."""
    files = []
    for file in SOUND[key]:
        data = file.data
        if data[:1] in (b"{", b"[") and b"}\n{" not in data and random.randint(0, 3):
            document = json.loads(data)
            for _ in range(random.randint(0, 2)):
                path = random.choice(list(_places(document)))
                rename = random.choice([None, None, text(random, 5)])
                document = _put(document, path, random.choice(ODD)(random), rename)
            data = json.dumps(document).encode()
        else:
            for _ in range(random.randint(0, 3)):
                start = random.randint(0, len(data))
                splice = random.choice([random.randbytes(random.randint(0, 6)), random.choice(SPLICES)])
                data = data[:start] + splice + data[start + random.randint(0, 12) :]
        files.append(SourceFile(random.choice([file.name, file.name, "x", "x.json", "x.yaml"]), data))
    return files


@pytest.mark.parametrize("key", SOUND)
def test_whatever_comes_in_is_read_or_refused(key):
    n_inputs = N_INPUTS // 25 if key in PACKED else N_INPUTS  # some of these start a process each

    @settings(max_examples=n_inputs, deadline=5000, database=None, suppress_health_check=[HealthCheck.too_slow])
    @given(st.integers(0, 2**64))  # drawing all that is changed would take four times as long as reading it
    def check(seed):
        files = changed(Random(seed), key)
        try:
            results = read_results(files)
        except InputError as error:
            "".join(str(issue) for issue in error.problems.listed).encode()
            return
        assert isinstance(results, Recognised)
        for record in results.records:
            assert record.value is None or math.isfinite(record.value)
            assert record.standard_error is None or record.standard_error >= 0
            if record.instances is not None:
                assert np.isfinite(record.instances.values).all()
                assert len(set(record.instances.names)) == len(record.instances.values) > 0
            "".join([record.system, record.revision, record.source, *record.column]).encode()
        "".join([*results.notes, *results.warnings]).encode()

    check()
