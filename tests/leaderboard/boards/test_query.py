"""What a board is asked stands in its address, and is read back from there."""

from django.http import QueryDict

from leaderboard.boards.query import BoardQuery, changed, query_text, read_query

EVERYTHING = BoardQuery(
    sort="-mean", reference="copeland", policy="median", aggregation="two_step", ties="best", q="a & b",
    tags=("x", "y,z"), least=(("date", "2024-05"), ("parameters", "7B")), most=(("date", "2025"),),
    complete_only=True, top=5,
    pins=("bert", "t5"), rules=("mean", "borda"), families=("majority",), scores=True, revision=3, page=2,
)  # fmt: skip


def test_an_address_says_everything_and_is_read_back_whole():
    assert read_query(QueryDict(query_text(EVERYTHING).removeprefix("?"))) == EVERYTHING


def test_a_board_without_wishes_has_a_bare_address_which_asks_for_nothing():
    assert (query_text(BoardQuery()), read_query(QueryDict(""))) == ("", BoardQuery())


def test_what_is_no_number_and_what_is_too_long_is_cut_to_the_default():
    query = read_query(QueryDict("page=-1&top=1e9&revision=٣&page=x&sort=" + "m" * 999 + "&pin=&pin=a&pin=a"))
    assert query == BoardQuery(sort="m" * 200, pins=("a",))


def test_changing_anything_but_the_page_leads_to_page_one():
    query = BoardQuery(sort="mean", page=7)
    assert changed(query, page=3) == BoardQuery(sort="mean", page=3)
    assert changed(query, q="x") == BoardQuery(sort="mean", q="x")
    assert changed(query) == BoardQuery(sort="mean")
