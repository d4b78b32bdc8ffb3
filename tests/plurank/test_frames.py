"""Frames of every library, and hostile ones: a score is read or refused with its place, never guessed."""

import sys
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import plurank
from tests.plurank import frames_of
from tests.plurank.test_installed import run, wheel  # noqa: F401 -- a fixture

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("library", ["pandas", "pyarrow"])
def test_frames_of_a_library_are_read_and_written(library):
    frames_of.check(library)


@pytest.mark.slow  # installs packages
@pytest.mark.parametrize(
    ("library", "versions"),
    [("pandas", "highest"), ("polars", "highest"), ("pyarrow", "highest"), ("polars>=1.0", "lowest"),
     ("pandas>=2.2", "lowest"), ("pyarrow>=16", "lowest")],
)  # fmt: skip
def test_one_library_alone_is_enough(wheel, tmp_path, library, versions):  # noqa: F811 -- the fixture
    uv, python = (sys.executable, "-m", "uv"), str(tmp_path / "venv" / "bin" / "python")
    run(*uv, "venv", "--quiet", "--python", sys.executable, str(tmp_path / "venv"))
    install = (*uv, "pip", "install", "--quiet", "--python", python, "--resolution", versions)
    run(*install, f"{wheel}[frames]", library)
    name = library.partition(">")[0]
    program = tmp_path / "frames_of.py"
    program.write_text((ROOT / "tests" / "plurank" / "frames_of.py").read_text())
    assert run(python, str(program), name, folder=tmp_path) == f"{name} is read and written\n"


def scores_of(values, **names):
    return plurank.Board(pd.DataFrame(values, **names)).matrix.values.tolist()


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (
            pd.DataFrame([[1, 2], [3, 4]], columns=["a", "a"], index=["A", "B"]),
            "column 2: the column 'a' is already co",
        ),
        (pd.DataFrame([[1, 2]], columns=[1, "1"], index=["A"]), "column 2: the column '1' is already column 1"),
        (pd.DataFrame([[1, 2]], columns=["a", np.nan], index=["A"]), "column 2: the column has no name"),
        (
            pd.DataFrame([[1, 2]], columns=["a", "b\x00"], index=["A"]),
            "column 2: the name of the column 'b\\x00' holds",
        ),
        (pd.DataFrame({"a": [1, 2]}, index=["A", np.nan]), "row 2: the system has no name"),
        (pd.DataFrame({"a": [1, 2]}, index=["A", None]), "row 2: the system has no name"),
        (pd.DataFrame({"a": pd.to_timedelta([1, 2])}, index=["A", "B"]), "row 1 (A), column 'a': "),
        (pd.DataFrame({"a": [1j, 2]}, index=["A", "B"]), "row 1 (A), column 'a': '1j' is not a number"),
        (pd.DataFrame({"a": [10**400, 2]}, index=["A", "B"]), "row 1 (A), column 'a': the number is too large"),
        (pd.DataFrame({"a": [Decimal("Infinity"), 2]}, index=["A", "B"]), "row 1 (A), column 'a': the score is infin"),
        (pd.DataFrame(), "no column names the systems"),
        (pd.DataFrame(index=["A", "B"]), "the frame has no column of scores"),
        (np.zeros((2, 2, 2)), "`scores` has shape (2, 2, 2)"),
        ([[1, 2], [3]], "`scores` has shape (2,)"),
        ({"A": {"x": {"y": 1}}}, "row 1 (A), column 'x': \"{'y': 1}\" is not a number"),
        ({"A": {"x": 1}, None: {"x": 2}}, "row 2: the system has no name"),
    ],
)
def test_a_hostile_frame_is_a_value_error_that_names_row_and_column(frame, message):
    with pytest.raises(ValueError) as refusal:  # noqa: PT011 -- the message is compared below
        plurank.Board(frame)
    assert message in str(refusal.value)


def test_names_of_several_levels_are_joined_and_numbers_are_names():
    frame = pd.DataFrame(
        [[1, 2], [3, 4]], columns=pd.MultiIndex.from_tuples([("GLUE", "CoLA"), ("GLUE", "RTE")]), index=[2019, 2020]
    )
    board = plurank.Board(frame)
    assert (board.systems, board.tasks) == (("2019", "2020"), ("GLUE, CoLA", "GLUE, RTE"))


def test_numbers_of_every_kind_are_read_and_masked_ones_are_missing():
    kinds = {"float32": np.float32(0.5), "int8": np.int8(3), "decimal": Decimal("1.5"), "big": 10**30}
    assert scores_of({k: [v] for k, v in kinds.items()}, index=["A"]) == [[0.5, 3.0, 1.5, 1e30]]
    masked = np.ma.masked_array([[1.0, 2.0], [3.0, 4.0]], mask=[[0, 1], [0, 0]])
    assert np.array_equal(plurank.Board(masked).matrix.values, [[1, np.nan], [3, 4]], equal_nan=True)


def test_the_memory_of_the_one_who_sends_a_frame_is_left_alone():
    frame = pd.DataFrame([[1.0, 2.0]], columns=[0, 1], index=["A"])
    board = plurank.Board(frame)
    assert list(frame.columns) == [0, 1]
    frame.iloc[0, 0] = 9
    assert board.matrix.values.tolist() == [[1.0, 2.0]]
