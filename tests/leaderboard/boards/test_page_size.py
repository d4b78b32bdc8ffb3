"""How heavy the board's page is: a reader on a phone waits for every byte of it, and a server writes each."""

from django.test import Client

from leaderboard.benchmarks.demonstration import FOLDER
from leaderboard.benchmarks.folders import import_folder
from leaderboard.computing.rankings import site_rules


def test_a_cell_of_the_board_of_glue_costs_few_bytes_and_the_page_few_queries(make, django_assert_max_num_queries):
    glue = make.publish(import_folder(FOLDER / "glue", owner=make.user("owner")))
    with django_assert_max_num_queries(10):
        response = Client().get(f"/b/{glue.key}/")
    n_rows, n_cells = response.content.count(b'<th scope="row">'), 87 * len(site_rules())
    assert (response.status_code, n_rows) == (200, 87)
    assert len(response.content) < 25_000 + 87 * 450 + n_cells * 70  # what surrounds the table, a row, a cell
