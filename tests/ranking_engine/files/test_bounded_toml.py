from __future__ import annotations

import subprocess
import sys
import tomllib
from decimal import Decimal

import pytest
from hypothesis import given, strategies as st

from ranking_engine.files import bounded_toml
from ranking_engine.files.bounded_toml import read_toml
from ranking_engine.files.tables import TableError

FEWER = "a benchmark file needs fewer"


def dotted(n: int) -> str:
    return "a" + ".a" * n


@pytest.mark.parametrize(
    ("text", "line", "cause"),
    [
        (f"x = 1\n{dotted(11)} = 1", 2, f"more than 10 dots in a key; {FEWER}"),
        (f"x = 1\n[{dotted(11)}]", 2, f"more than 10 dots in a key; {FEWER}"),
        (f"\n\n[[{dotted(11)}]]", 3, f"more than 10 dots in a key; {FEWER}"),
        (f"x = {{{dotted(11)} = 1}}", 1, f"more than 10 dots in a key; {FEWER}"),
        ("x = 1\n" + " . ".join(['"a"'] * 12) + " = 1", 2, f"more than 10 dots in a key; {FEWER}"),
        ("x = " + "[" * 21 + "]" * 21, 1, f"more than 20 arrays and tables inside each other; {FEWER}"),
        ("x = " + "{a=" * 21 + "1" + "}" * 21, 1, f"more than 20 arrays and tables inside each other; {FEWER}"),
        ("\nx = " + "1" * 1001, 2, "1,001 characters of a number or word; at most 1000 are read"),
        ("x = 0x" + "f" * 999, 1, "1,001 characters of a number or word; at most 1000 are read"),
        ("k" * 201 + " = 1", 1, "a key has 201 characters; at most 200 are read"),
        ('x = """\n\n"""\n"' + "k" * 199 + '" = 1', 4, "a key has 201 characters; at most 200 are read"),
        ("x = '" + "y" * 100_000 + "'", 1, "the line has 100,006 characters; at most 100,000 are read"),
        ("[[t]]\n" * 25_001, 25_001, f"more than 25,000 tables; {FEWER}"),
        ("x = [\n" + "{},\n" * 25_001 + "]", 25_002, f"more than 25,000 tables; {FEWER}"),
        ("x = [\n" + "1,1,\n" * 100_001 + "]", 100_001, f"more than 200,000 values; {FEWER}"),
    ],
)  # fmt: skip
def test_what_would_take_more_than_its_size_is_refused_with_its_line(text, line, cause):
    with pytest.raises(TableError) as refused:
        read_toml(text.encode(), "about.toml")
    assert [(issue.line, issue.message) for issue in refused.value.errors] == [(line, cause)]
    assert refused.value.source == "about.toml"


def test_a_file_larger_than_is_read_is_refused_before_it_is_decoded():
    with pytest.raises(TableError, match="the file has 4,194,305 bytes; at most 4,194,304 are read"):
        read_toml(b"\xff" * (bounded_toml.MAX_BYTES + 1), "about.toml")


def test_dots_and_brackets_inside_texts_and_comments_count_for_nothing():
    text = f"a = \"{dotted(300)} {'[' * 99}\"\n# {dotted(300)} {'[' * 99}\nb = '{dotted(99)}'\n"
    text += f'c = """\n{dotted(99)} "" {"[" * 99} \\""" """\n{"k" * 150} = 1\nd = \'\'\'{"{" * 99}\'\'\'\n'
    assert read_toml(text.encode(), "about.toml") == (text, tomllib.loads(text))


def test_a_bound_that_is_just_met_is_read():
    text = f"{dotted(10)} = 1\n{'k' * 200} = {'1' * 1000}\nx = {'[' * 20}{']' * 20}\ny = 0.1\n"
    assert read_toml(text.encode(), "about.toml")[1] == {**tomllib.loads(text), "y": Decimal("0.1")}


@given(st.text(alphabet="a.=[]{}\"'\\\n# 1,\r", max_size=60))
def test_whatever_is_within_the_bounds_is_read_as_the_parser_reads_it(text):
    try:
        expected = tomllib.loads(text, parse_float=Decimal)
    except tomllib.TOMLDecodeError:
        with pytest.raises(TableError):
            read_toml(text.encode(), "about.toml")
    else:
        assert read_toml(text.encode(), "about.toml") == (text, expected)


@pytest.mark.parametrize(
    "text",
    [
        dotted(140_000) + " = 1",
        "x = " + "[" * 290_000,
        '"' * 290_000,
        "'''" + "''x" * 90_000,
        '"""' + '""x\\' * 70_000,
        "a=1\n" * 70_000,
        "".join(f"a{i}=1\n" for i in range(30_000)),
        "x = " + "1" * 290_000,
        "x = 0b" + "1" * 290_000,
        "[a]\n" * 70_000,
        "".join(f"[a{i}]\n" for i in range(24_000)),
        "a = [" + "'a'," * 70_000 + "]",
        " " * 290_000,
        "\\" * 290_000,
        "x = 1" + "_1" * 140_000,
        "[[task]]\nname='a'\n" * 15_000,
    ],
)  # fmt: skip
def test_every_bomb_of_the_size_that_is_tried_costs_little(text):
    """In a process of its own, so that its memory can be measured."""
    program = """
import resource, sys, time
from pathlib import Path
from ranking_engine.files.benchmark_file import read_benchmark
from ranking_engine.files.tables import TableError
def peak(): return int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0])
resource.setrlimit(resource.RLIMIT_AS, (2**32, 2**32))
data = sys.stdin.buffer.read()
Path("/proc/self/clear_refs").write_text("5")
peak_before, time_before = peak(), time.process_time()
try: read_benchmark(data)
except TableError: pass
print(time.process_time() - time_before, peak() - peak_before)
"""
    ran = subprocess.run([sys.executable, "-c", program], input=text.encode(), capture_output=True, check=True)
    seconds, kilobytes = map(float, ran.stdout.split())
    assert seconds < 3
    assert kilobytes < 60_000
