"""Every number that the papers print is compared or listed with why not; and what is typed here is what they print."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from reproduction.__main__ import SITE
from reproduction.printed import places

ROWS = {
    section["key"]: section["rows"]
    for paper in json.loads(SITE.read_text(encoding="utf-8"))["papers"]
    for section in paper["sections"]
}


@pytest.mark.parametrize("place", places(), ids=lambda place: f"{place.paper} {place.where}")
def test_every_number_is_compared_or_listed_with_why_not(place):
    assert all(why for _, why in place.not_compared)
    assert bool(place.sections) == bool(place.compared)


def test_the_rows_of_a_section_compare_as_many_numbers_as_its_places_print():
    expected: Counter[tuple[str, ...]] = Counter()
    for place in places():
        if place.sections:
            expected[place.sections] += place.compared
    assert expected == {
        sections: sum(row["n_printed"] for section in sections for row in ROWS[section]) for sections in expected
    }
    counted = {section for place in places() for section in place.sections}
    assert [key for key, rows in ROWS.items() if any(row["n_printed"] for row in rows) and key not in counted] == []
