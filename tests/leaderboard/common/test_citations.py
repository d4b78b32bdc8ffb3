"""Citations of pages of the site."""

from leaderboard.common.citations import cite_address


def test_no_title_ends_an_entry_of_bibtex():
    citation = cite_address(
        "k", 'X}}} @misc(y, title="z") \\ {', "https://plurank.example/b/x/", year=2026, note="A & B"
    )
    braces = [character for character in citation.bibtex if character in "{}"]
    depths = [braces[: k + 1].count("{") - braces[: k + 1].count("}") for k in range(len(braces))]
    assert depths[-1] == 0
    assert min(depths[:-1]) >= 1  # the entry ends with its last brace
    assert r"A \& B" in citation.bibtex
