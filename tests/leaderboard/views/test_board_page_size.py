"""How heavy the board's page is: a reader on a phone waits for every byte of it, and a server writes each."""

from django.test import Client

from leaderboard.services.benchmark_folders import import_folder
from leaderboard.services.demonstration import FOLDER


def test_the_board_of_glue_is_a_hundred_kilobytes_at_most_and_asks_a_few_queries(
    make, django_assert_max_num_queries
):
    glue = make.publish(import_folder(FOLDER / "glue", owner=make.user("owner")))
    with django_assert_max_num_queries(8):
        response = Client().get(f"/b/{glue.key}/")
    assert (response.status_code, len(response.content) < 100_000) == (200, True)
    assert response.content.count(b'<th scope="row">') == 87
