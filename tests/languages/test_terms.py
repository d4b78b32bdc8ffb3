"""What boards, previews and forms say of submitting, in the pseudo-language: sentences that few boards need."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import AnonymousUser
from django.utils import timezone

from leaderboard.access.audience import audience_of
from leaderboard.accounts.sessions import browser_name
from leaderboard.benchmarks.identities.proposals import proposals_for
from leaderboard.evaluation.terms import ladder_terms, phase_terms
from leaderboard.models import Benchmark, Phase
from leaderboard.submissions.disclosure import Submitter, SystemCounts
from leaderboard.submissions.preview.text import ranks_sentence
from leaderboard.submissions.quotas import board_terms, terms_of
from tests.factories import owner_of
from tests.languages.pseudo import pseudo
from tests.languages.test_pages import unmarked_words_in

DATES = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec", "UTC")


def unmarked_in(*texts: str) -> list[str]:
    """The words of some texts that are not marked."""
    return unmarked_words_in("".join(f"<p>{text}</p>" for text in texts).encode(), "Ada", "Final", *DATES)


@pytest.mark.parametrize(
    ("left", "caps"),
    [
        (timedelta(days=-1), {}),
        (timedelta(minutes=5), {"daily_cap": 2}),
        (timedelta(hours=3, minutes=5), {"total_cap": 5}),
        (timedelta(days=6, minutes=5), {"daily_cap": 2, "total_cap": 5}),
    ],
)
def test_the_head_of_a_board_says_the_terms_in_the_language_of_the_site(make, pseudo_language, left, caps):
    now = timezone.now()
    benchmark = make.benchmark(
        submission_policy="moderated", deadline=now + left, embargo_until=now + timedelta(days=9), **caps
    )
    user = make.user()
    of_visitor, of_user = (
        board_terms(audience_of(AnonymousUser(), benchmark)),
        board_terms(audience_of(user, benchmark)),
    )
    assert len(of_visitor) == (1 if left < timedelta(0) else 4)
    assert unmarked_in(*of_visitor, *of_user, *terms_of(benchmark, user, limited=True)) == []


@pytest.mark.parametrize(
    "fields",
    [
        {"daily_cap": 2},
        {"total_cap": 3, "closes_at": timezone.now() - timedelta(days=1)},
        {"daily_cap": 1, "total_cap": 3, "closes_at": timezone.now() + timedelta(days=1), "split": Phase.Split.PUBLIC},
        {"split": Phase.Split.PUBLIC, "private_at": timezone.now() + timedelta(days=1)},
        {"split": Phase.Split.PUBLIC, "private_at": timezone.now() - timedelta(days=1)},
        {"split": Phase.Split.PUBLIC, "went_private_at": timezone.now() - timedelta(days=1), "max_systems": 2},
        {"split": Phase.Split.DEVELOPMENT},
    ],
)
def test_a_phase_says_its_terms_in_the_language_of_the_site(pseudo_language, fields):
    phase = Phase(benchmark=Benchmark(), name="Final", opens_at=timezone.now() - timedelta(days=2), **fields)
    assert unmarked_in(*phase_terms(phase), *ladder_terms()) == []


@pytest.mark.parametrize(
    ("ranks", "n_leaving_out", "n_sentences"),
    [([None], 0, 1), ([2, 2], 0, 1), ([1, 4], 0, 2), ([3, 4, None], 1, 2), ([1, 2, None, None, None], 2, 4)],
)
def test_a_preview_says_where_a_system_would_be_in_the_language_of_the_site(
    pseudo_language, ranks, n_leaving_out, n_sentences
):
    text = ranks_sentence("Ada", ranks, n_leaving_out)
    assert text.count("⟧") == n_sentences
    assert unmarked_in(text) == []


@pytest.mark.parametrize("counts_waiting", [True, False])
def test_what_submitters_entered_is_said_in_the_language_of_the_site(pseudo_language, counts_waiting):
    counts = SystemCounts(n_on_board=1, n_withdrawn=1, n_rejected=1)
    submitter = Submitter(1, "Ada", counts, is_viewer=False, counts_waiting=counts_waiting, system_ids=())
    assert unmarked_in(submitter.sentence) == []


def test_browsers_are_named_in_the_language_of_the_site(pseudo_language):
    firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0"
    assert unmarked_in(browser_name(firefox).replace("Firefox", "").replace("Linux", ""), browser_name("")) == []


def test_why_two_systems_may_be_one_model_is_said_in_the_language_of_the_site(make, pseudo_language):
    first = make.published({"Ada": [1.0], "Bob": [2.0]}, name="First", n_tasks=1)
    make.published({"ADA": [5.0], "Dan": [4.0]}, name="Second", n_tasks=1)
    (proposal,) = proposals_for(owner_of(first), first).listed
    assert proposal.reasons == [pseudo("the same name")]
