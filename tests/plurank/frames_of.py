"""What every library of frames has to do, with nothing but that library: `python -m tests.plurank.frames_of polars`.

The tests run it for the libraries of this environment, and in fresh environments that have one library alone.
"""

import datetime as dt
import decimal
import importlib
import math
import sys

import plurank

COLUMNS = {
    "QA": [90.0, 80.5, None],
    "NLI": [60, 70, 65],
    "Empty": [None, None, None],
    "Exact": [decimal.Decimal("1.25"), None, decimal.Decimal("2.50")],
}
SCORES = [[90.0, 60.0, None, 1.25], [80.5, 70.0, None, None], [None, 65.0, None, 2.5]]
BAD = [
    ({"model": ["A", "A"], "x": [1, 2]}, "row 2: the system 'A' is already row 1"),
    ({"model": ["A", None], "x": [1, 2]}, "row 2: the system has no name"),
    ({"model": ["A", " "], "x": [1, 2]}, "row 2: the system has no name"),
    ({"model": ["A", "B\x07"], "x": [1, 2]}, "row 2: the name of the system 'B\\x07' holds the invisible or control"),
    ({"model": ["A", "B" * 1000], "x": [1, 2]}, "has 1000 characters; at most 200 are allowed"),
    ({"model": ["A", "B"], "x": [True, False]}, "row 1 (A), column 'x': 'True' is not a number; the column holds True"),
    ({"model": ["A", "B"], "x": [None, True]}, "row 2 (B), column 'x': 'True' is not a number"),
    ({"model": ["A", "B"], "x": ["1", "2"]}, "row 1 (A), column 'x': '1' is not a number; the column holds texts"),
    ({"model": ["A", "B"], "x": [dt.datetime(2020, 1, 2)] * 2}, "column 'x': '2020-01-02 00:00:00' is not a number"),  # noqa: DTZ001 -- as frames have them
    ({"model": ["A", "B"], "x": [1.0, math.inf]}, "row 2 (B), column 'x': the score is infinite"),
    ({"model": ["A", "B"], "x": [[1], [2]]}, "row 1 (A), column 'x': "),
    ({"model": ["A", "B"]}, "the frame has no column of scores beside the names of the systems"),
    ({"x": [1, 2]}, "no column names the systems: call one `system`"),
]


def made(library, columns):
    """A frame of a library."""
    module = importlib.import_module(library)
    return module.table(columns) if library == "pyarrow" else module.DataFrame(columns)


def check(library):
    """Raise an AssertionError where the library is not read, or not written, as it should be."""
    board = plurank.Board(made(library, {"model": ["A", "B", "C"], **COLUMNS}))
    assert (board.systems, board.tasks) == (("A", "B", "C"), tuple(COLUMNS))
    read = [[None if math.isnan(value) else value for value in row] for row in board.matrix.values.tolist()]
    assert read == SCORES, read
    # Out again: scores are decimals also where there is none; ranks are whole numbers also where nobody has one.
    frame = board.to_frame()
    assert type(frame).__module__.partition(".")[0] == library
    assert kinds_of(frame) == dict.fromkeys(COLUMNS, "decimal"), kinds_of(frame)
    assert plurank.Board(frame).matrix.values.tobytes() == board.matrix.values.tobytes()
    ranks = board.rank("mean", "copeland").to_frame()
    assert kinds_of(ranks) == {"mean": "whole", "copeland": "whole"}, kinds_of(ranks)
    assert gaps_of(ranks) == {"mean": 3, "copeland": 0}
    ranking = board.rank("mean").to_frame()
    assert kinds_of(ranking) == {"rank": "whole", "score": "decimal"}, kinds_of(ranking)
    assert gaps_of(ranking) == {"rank": 3, "score": 3}
    for columns, message in BAD:
        refusal = refusal_of(made(library, columns))
        assert message in refusal, f"{message!r} is not in {refusal!r}"


def refusal_of(frame):
    """What is said of a frame that cannot be read; empty where it is."""
    try:
        plurank.Board(frame)
    except ValueError as error:
        return str(error)
    return ""


def kinds_of(frame):
    """Whether each column but the names is of whole numbers or of decimals."""
    if hasattr(frame, "schema") and hasattr(frame, "column_names"):
        kinds = {field.name: str(field.type) for field in frame.schema}
    else:
        kinds = dict(zip(frame.columns, map(str, frame.dtypes), strict=True))
    words = {"int64": "whole", "float64": "decimal", "double": "decimal"}
    return {name: words.get(kind.lower(), kind) for name, kind in kinds.items() if name != "system"}


def gaps_of(frame):
    """How many values each column but the names lacks, as the library counts them."""
    if hasattr(frame, "isna"):
        return {name: int(frame[name].isna().sum()) for name in frame.columns}
    names = frame.column_names if hasattr(frame, "column_names") else frame.columns
    counts = {name: frame[name].null_count for name in names if name != "system"}
    return {name: count() if callable(count) else count for name, count in counts.items()}


if __name__ == "__main__":
    check(sys.argv[1])
    print(f"{sys.argv[1]} is read and written")
