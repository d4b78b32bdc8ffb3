"""What a parent builds of its child's replies: values, and nothing that acts."""

import os
import pickle
from fractions import Fraction

import numpy as np
import pytest

from leaderboard.computing.messages import ERROR, RESULT, Reply, first_message, packed, plain_error
from ranking_engine import ScoreMatrix, rank_all
from ranking_engine.files.problems import InputError
from ranking_engine.prospects import prospects


class Acting:
    """What an attacker would have a child say."""

    def __init__(self, function: object, *arguments: object) -> None:
        self.call = function, arguments

    def __reduce__(self) -> tuple:
        return self.call


@pytest.mark.parametrize(
    "content",
    [
        Acting(os.system, "true"), Acting(eval, "1"), Acting(getattr, Reply, "kind"), Acting(print, "a"),
        Acting(np.load, "a"), Acting(rank_all, None), Acting(os.unlink, "a"),
    ],
    ids=lambda content: content.call[0].__name__,
)  # fmt: skip
def test_a_reply_that_names_a_function_is_refused(content):
    with pytest.raises(pickle.UnpicklingError, match="which is no plain value"):
        first_message(bytearray(packed(Reply(RESULT, content, 0.0, 0))), is_reply=True)


def test_what_the_engine_answers_comes_back():
    matrix = ScoreMatrix([[1.0, 2.0, np.nan], [2.0, 1.0, 3.0]], weights=[1, "1/3", 2])
    rankings, answer = rank_all(matrix, ["mean", "borda"], missing="drop_systems"), prospects(matrix, n_draws=10)
    content = {
        "rankings": rankings,
        "prospects": answer,
        "share": Fraction(1, 3),
        "names": {"a", "b"},
        "matrix": matrix,
    }
    reply, is_whole = first_message(bytearray(packed(Reply(RESULT, content, 1.5, 7))), is_reply=True)
    assert (is_whole, reply.cpu_seconds, reply.peak_bytes) == (True, 1.5, 7)
    assert reply.content["prospects"] == answer
    assert reply.content["rankings"]["borda"].ranks.tolist() == rankings["borda"].ranks.tolist()
    assert reply.content["share"] == Fraction(1, 3)
    assert np.array_equal(reply.content["matrix"].values, matrix.values, equal_nan=True)


def test_an_exception_of_another_package_becomes_the_nearest_one_that_is_taken():
    class ForeignError(KeyError):
        """As a library has them."""

    class ForeignTrouble(Exception):  # noqa: N818 -- any name
        """Derived from nothing else."""

    def taken(error: Exception) -> str:
        reply, _ = first_message(bytearray(packed(Reply(ERROR, plain_error(error), 0.0, 0))), is_reply=True)
        return repr(reply.content)

    assert taken(ValueError("no")) == "ValueError('no')"
    assert taken(InputError.of("no number", "scores")) == repr(InputError.of("no number", "scores"))
    assert taken(ForeignError("x")) == repr(KeyError("'x'"))
    assert taken(ForeignTrouble("broken")) == "RuntimeError('ForeignTrouble: broken')"
