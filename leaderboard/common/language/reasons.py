"""Reasons that the site itself writes down: stored in English, and said in the language of the page.

They are in histories, beside reasons that people write, and beside fetches and deliveries that failed. Errors whose
texts are stored so, `AddressError` and `PostError`, are raised in English.
"""

import re
from functools import cache

from django.utils.translation import get_language, gettext, gettext_noop

from leaderboard.common.language.numbers import PROGRAMS

REASONS = (
    # Addresses that nothing is fetched from or posted to.
    gettext_noop("This is not a URL."),
    gettext_noop("The URL must begin with https:// and a host name."),
    gettext_noop("The URL can have at most %(n)s characters, and only ASCII after the host name."),
    gettext_noop("The URL must not contain a user name, a password or a #."),
    gettext_noop("The port must be one of %(ports)s."),
    gettext_noop("The URL does not lead to the public internet."),
    gettext_noop("This is no URL of a board: it has /b/ and the key of the benchmark in it."),
    # Why a fetch or a delivery failed.
    gettext_noop("The host name was not resolved within %(n)s seconds."),
    gettext_noop("The host name could not be resolved."),
    gettext_noop("No answer within %(n)s seconds."),
    gettext_noop("No answer: %(error)s."),
    gettext_noop("The answer is incomplete: the connection ended before all of it arrived."),
    gettext_noop("The certificate does not match the host name: %(error)s."),
    gettext_noop("The answer was %(status)s; redirects are not followed."),
    gettext_noop("The answer was %(status)s."),
    gettext_noop("The URL redirects more than %(n)s times."),
    gettext_noop("The content has more than %(n)s bytes."),
    gettext_noop("The content is compressed in a way that this site did not ask for."),
    gettext_noop("The compressed content is damaged."),
    gettext_noop("The compressed content is incomplete."),
    gettext_noop("The compressed content has more than %(n)s parts."),
    gettext_noop("The files did not arrive within %(n)s seconds."),
    gettext_noop("The folder has more than %(n)s entries."),
    gettext_noop("The files have more than %(n)s bytes."),
    gettext_noop("The list is not JSON."),
    gettext_noop("The content is not a JSON list of files."),
    gettext_noop("Entry %(n)s of the list is neither a URL nor an object with a download_url."),
    gettext_noop("Entry %(n)s of the list is no URL."),
    gettext_noop("The list has no files."),
    gettext_noop("The list has %(n)s files; at most %(most)s are fetched."),
    gettext_noop("The file of the board has more than %(n)s bytes."),
    gettext_noop("An error of this site; its operators can read more in the log."),
    gettext_noop("the webhook was switched off"),
    gettext_noop("No delivery succeeded for half a day."),
    gettext_noop(
        "Its owner left. If you switch it on, it becomes yours; renew its secret, because the former owner knows it."
    ),
    # Why predictions that were scored are not on the board.
    gettext_noop("The benchmark is archived, or you can no longer see it."),
    gettext_noop(
        "The scores on the board stay as they were: against the newest references of %(task)s there is no score on the "
        "split %(split)s."
    ),
    # What the site does by itself.
    gettext_noop("No moderator decided by %(due)s."),
    gettext_noop("No moderator decided by %(due)s. You can submit it again."),
    gettext_noop("No moderator decided by %(due)s. You can send the votes again."),
    gettext_noop("The embargo ended."),
    gettext_noop("The board now shows scores on the private split."),
    gettext_noop("%(phase)s: The board now shows scores on the private split."),
    gettext_noop("Categories of votes are tasks."),
    gettext_noop("Declared as one cluster: average correlation %(correlation)s."),
    # Why roles changed with something else.
    gettext_noop("The benchmark was handed over."),
    gettext_noop("The account was closed."),
    gettext_noop("A role through the organisation."),
    gettext_noop("The account’s address was confirmed after this role was assigned."),
    gettext_noop("By the role in %(organisation)s."),
    gettext_noop("The benchmark belongs to %(organisation)s."),
    gettext_noop("The benchmark no longer belongs to %(organisation)s."),
)


def reason_in_page_language(text: str) -> str:
    """A reason in the language of the page; what people wrote is as it is."""
    if get_language() in (PROGRAMS, None):
        return text
    matches = ((reason, pattern.fullmatch(text)) for reason, pattern in _patterns())
    return next((gettext(reason) % match.groupdict() for reason, match in matches if match), text)


@cache
def _patterns() -> list[tuple[str, re.Pattern[str]]]:
    """Each reason with what it is like once it has values, those that say more first."""
    return [
        (reason, re.compile(re.sub(r"%\\\((\w+)\\\)s", r"(?P<\1>.+)", re.escape(reason))))
        for reason in sorted(REASONS, key=len, reverse=True)
    ]
