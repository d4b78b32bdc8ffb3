"""What was found of a name is kept, and of a text that is too long to be one it is not."""

from ranking_engine.text.remembered import LONGEST, remembered


def test_names_are_looked_at_once_with_the_same_options_and_long_texts_each_time():
    calls = []

    @remembered
    def length(text: str, *, factor: int = 1) -> int:
        """Return a length."""
        calls.append((text[:1], factor))
        return len(text) * factor

    for _ in range(2):
        assert [length("name"), length("name", factor=2), length("x" * (LONGEST + 1))] == [4, 8, LONGEST + 1]
    assert calls == [("n", 1), ("n", 2), ("x", 1), ("x", 1)]
    assert (length.__name__, length.__doc__) == ("length", "Return a length.")
