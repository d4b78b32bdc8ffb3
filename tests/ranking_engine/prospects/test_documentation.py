import doctest

import ranking_engine.prospects
from tests.reference import REPOSITORY


def test_the_examples_of_the_documentation_hold():
    path = REPOSITORY / "docs" / "prospects.md"
    assert doctest.testfile(str(path), module_relative=False).failed == 0
    assert doctest.testfile(str(path), module_relative=False).attempted > 10
    assert doctest.testmod(ranking_engine.prospects) == (0, 4)
