"""What result files may cost: each bomb is read by a process of its own, whose time and memory are measured."""

import json
import subprocess
import sys
from subprocess import PIPE

import pytest
import yaml
from hypothesis import HealthCheck, given, settings, strategies as st

from ranking_engine.files.grids import MAX_MARKUP
from ranking_engine.files.json_bounds import n_values
from ranking_engine.files.problems import InputError
from ranking_engine.importers import SourceFile
from ranking_engine.importers.documents import MAX_BYTES, MAX_VALUES, MAX_YAML_BYTES, pieces
from ranking_engine.importers.plain_yaml import PlainLoader

# Forks for each file that it is told of, so that each is read by a process that has read nothing before.
PROGRAM = """
import os, sys, time
from pathlib import Path
from ranking_engine.importers import SourceFile, read_results
from ranking_engine.files.problems import InputError
def peak(): return int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) / 1024
def measure(path):
    data = path.read_bytes()
    Path("/proc/self/clear_refs").write_text("5")
    peak_before, time_before = peak(), time.process_time()
    try: read_results([SourceFile(path.name, data)])
    except InputError as error: str(error)
    print(time.process_time() - time_before, peak() - peak_before, flush=True)
for line in sys.stdin:
    if child := os.fork():
        if os.waitpid(child, 0)[1]: print("inf inf", flush=True)
    else:
        measure(Path(line.rstrip()))
        os._exit(0)
"""


@pytest.fixture(scope="module")
def reader():
    with subprocess.Popen([sys.executable, "-c", PROGRAM], stdin=PIPE, stdout=PIPE, text=True, bufsize=1) as process:
        yield process
        process.stdin.close()


@pytest.fixture
def cost(reader, tmp_path):
    """Reads a file: the processor seconds, and the megabytes above what the process had before."""

    def measured(name: str, text: str) -> tuple[float, float]:
        file = tmp_path / name
        file.write_text(text, encoding="utf-8", newline="")
        print(file, file=reader.stdin)
        seconds, megabytes = map(float, reader.stdout.readline().split())
        file.unlink()
        return seconds, megabytes

    return measured


def filled(pattern: str, n_bytes: int, begin: str = "", end: str = "") -> str:
    return begin + pattern * ((n_bytes - len(begin) - len(end)) // len(pattern.encode())) + end


JSON = {
    "lists": lambda: filled("[],", MAX_BYTES, "[", "0]"),
    "objects": lambda: filled('{"a":{}},', MAX_BYTES, "[", "0]"),
    "texts": lambda: filled('"\U0001f600",', MAX_BYTES, "[", "0]"),
    "numbers": lambda: filled("1.5,", MAX_BYTES, "[", "0]"),
    "keys": lambda: "{" + ",".join(f'"{number:x}":0' for number in range(900_000)) + "}",
    "long numbers": lambda: filled("1" * 4000 + ",", MAX_BYTES, "[", "0]"),
    "brackets": lambda: "[" * MAX_BYTES,
    "one text": lambda: '"' + "\U0001f600" * (MAX_BYTES // 4 - 1) + '"',
    "just enough objects": lambda: "[" + '{"a":{}},' * (MAX_VALUES // 5) + "0]",
    "just enough mappings": lambda: "[" + '{"":1},' * (MAX_VALUES // 3 - 2) + "0]",
    "just enough texts": lambda: filled('"' + "\U0001f600" * 9 + '",', MAX_BYTES, "[", "0]"),
}
YAML = {
    "base 60": lambda: filled("1:", MAX_YAML_BYTES, "a: ", "1"),
    "base 60, with a tag": lambda: filled("1:", MAX_YAML_BYTES, 'a: !!int "', '1"'),
    "base 60, floats": lambda: filled("1:", MAX_YAML_BYTES, "a: ", "1.5"),
    "digits": lambda: filled("1", MAX_YAML_BYTES, "a: "),
    "scalars": lambda: filled("a,", MAX_YAML_BYTES, "[", "a]"),
    "mappings": lambda: filled("{a: {}},", MAX_YAML_BYTES, "[", "a]"),
    "keys": lambda: "\n".join(f"{number:x}: 0" for number in range(110_000)),
    "brackets": lambda: "[" * MAX_YAML_BYTES,
    "dashes": lambda: "- " * (MAX_YAML_BYTES // 2),
    "merges": lambda: filled("<<: {a: 1}\n", MAX_YAML_BYTES),
}
CSV = {
    "one row": lambda: "system," + "a," * (MAX_BYTES // 2 - 10),
    "one row over many lines": lambda: "system," + '"\n",' * (MAX_BYTES // 4 - 10),
    "cells": lambda: "system,a\n" + "x,1\n" * (MAX_BYTES // 4 - 10),
    "wide cells": lambda: "system" + ",a" * 1999 + "\n" + ("x" + ",12" * 1999 + "\n") * 1700,
    "semicolons": lambda: "system" + ";a" * 1999 + "\n" + ("x" + ";1,2" * 1999 + "\n") * 1200,
    "marks": lambda: "system,a" + "\u0301" * 60_000 + "\nx,1\n",
}


@pytest.mark.parametrize("name", JSON)
def test_no_json_takes_much_memory_or_time(cost, name):
    seconds, megabytes = cost("results.json", JSON[name]())
    assert seconds < 5
    assert megabytes < 200


@pytest.mark.parametrize("name", YAML)
def test_no_yaml_takes_much_memory_or_time(cost, name):
    seconds, megabytes = cost("results.yaml", YAML[name]())
    assert seconds < 5
    assert megabytes < 200


OTHER_TABLES = {
    "cells.md": lambda: "|system|a|\n|---|---|\n" + filled("|x|1|\n", MAX_MARKUP - 100),
    "bars.md": lambda: filled("|", MAX_MARKUP),
    "cells.html": lambda: "<table><tr><th>system<th>a</tr>" + filled("<tr><td>x<td>1", MAX_MARKUP - 100),
    "spans.html": lambda: "<table>" + filled('<tr><td colspan="1999">', MAX_MARKUP - 100),
    "depth.html": lambda: filled("<table>", MAX_MARKUP),
    "cells.tex": lambda: "\\begin{tabular}{ll}\n" + filled("a & 1 \\\\\n", MAX_MARKUP - 100),
    "lines.jsonl": lambda: filled('{"system":"a","b":1}\n', MAX_BYTES),
    "records.json": lambda: filled('{"system":"a","b":1},', MAX_BYTES - 100, "[", '{"system":"b","b":2}]'),
    "numbers.csv": lambda: "system,a\n" + filled("x,(((((((((((((((((((((((((((((\n", MAX_BYTES - 100),
    "digits.csv": lambda: "system,a\n" + filled("x," + "1" * 3900 + "\n", MAX_BYTES - 100),
}


@pytest.mark.parametrize("name", OTHER_TABLES)
def test_no_other_table_takes_much_memory_or_time(cost, name):
    seconds, megabytes = cost(name, OTHER_TABLES[name]())
    assert seconds < 5
    assert megabytes < 200


@pytest.mark.parametrize("name", CSV)
def test_no_table_takes_much_memory_or_time(cost, name):
    seconds, megabytes = cost("results.csv", CSV[name]())
    assert seconds < 5
    assert megabytes < 200


def test_more_values_than_are_read_at_a_time_are_refused_before_parsing_in_one_file_and_pieces_in_several():
    half = SourceFile("a.json", f"[{'1,' * 150_000}1]".encode())
    with pytest.raises(InputError, match=r"b\.json: more than 300,000 values; import them in parts"):
        list(pieces([SourceFile("b.json", f"[{'1,' * 300_000}1]".encode())]))
    assert len(list(pieces([half, SourceFile("b.json", half.data)]))) == 2
    assert len(list(pieces([half, SourceFile("b.json", json.dumps(["," * 400_000]).encode())]))) == 1


DOCUMENTS = st.recursive(
    st.none() | st.text(max_size=5) | st.integers(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=3), inner),
)


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(DOCUMENTS)
def test_values_are_never_counted_too_low(document):
    def count(node: object) -> int:
        if isinstance(node, dict):
            return 1 + sum(1 + count(value) for value in node.values())
        return 1 + sum(map(count, node)) if isinstance(node, list) else 1

    text = json.dumps(document)
    assert n_values(text, enough=0) >= count(document)
    assert n_values(text, enough=0) <= 2 * count(document)


def test_yaml_reads_texts_numbers_truths_and_nothing():
    text = "a: 1.5e3\nb: -7\nc: 'x'\nd: yes\ne: ~\nf: [1, {g: .5}]\nh: 2024-01-02\ni: 1:30:00\nj: 0x1F\nk: <<\nl: 007\n"
    assert yaml.load(text, Loader=PlainLoader) == {
        "a": 1500.0, "b": -7, "c": "x", "d": True, "e": None, "f": [1, {"g": 0.5}], "h": "2024-01-02", "i": "1:30:00",
        "j": "0x1F", "k": "<<", "l": 7,
    }  # fmt: skip


@pytest.mark.parametrize(
    "text", ["!!binary aGk=", "!!int 1:30", "!!set {a}", "1" * 401, "1e999", "!!float x", "!!int {}"]
)
def test_yaml_of_other_kinds_is_an_error(text):
    with pytest.raises(yaml.MarkedYAMLError):
        yaml.load(text, Loader=PlainLoader)
