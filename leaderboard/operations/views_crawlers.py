"""What programs ask a site for at addresses that they know beforehand: robots.txt, sitemap.xml, security.txt."""

from datetime import datetime, timedelta
from xml.sax.saxutils import escape

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from leaderboard.access.audience import listed_benchmarks
from leaderboard.common.public_responses import shared_answer
from leaderboard.common.site_address import site_address
from leaderboard.models import Release
from ranking_engine import RULES

TEXT = "text/plain; charset=utf-8"
MAX_LISTED = 5000  # benchmarks, and as many frozen revisions: a sitemap has 50,000 addresses at most
PAGES = ("home", "rules", "choose_rule", "landscape", "papers", "meta_boards", "documents", "try")
EXPIRY_DAYS = 180  # of security.txt: a year at most, by RFC 9116


@require_safe
def robots(request: HttpRequest) -> HttpResponse:
    """Which pages crawlers leave alone: accounts, forms, and what is computed for each who asks (RFC 9309)."""
    top = reverse("home")
    closed = ["account/", "admin/", "drafts/", "submissions/", "join/", "unsubscribe/", "api/", "search/", "compare/",
              "b/*/manage/", "b/*/what-if/", "b/*/exports/", "b/*/experiments/", "*.zip$"]  # fmt: skip
    lines = ["User-agent: *", *(f"Disallow: {top}{path}" for path in closed), ""]
    lines.append(f"Sitemap: {site_address(reverse('sitemap'))}")
    return shared_answer(request, "".join(f"{line}\n" for line in lines), TEXT)


@require_safe
def sitemap(request: HttpRequest) -> HttpResponse:
    """The pages that anyone may read: the site's own, boards, and frozen revisions, those of each that changed last."""
    paths: list[tuple[str, datetime | None]] = [(reverse(name), None) for name in PAGES]
    paths += [(reverse("rule_page", args=[rule]), None) for rule in RULES]
    public = listed_benchmarks(AnonymousUser()).exclude(publication=None).order_by("-publication")
    boards = public.values_list("key", "publication__published_at")[:MAX_LISTED]
    paths += [(reverse("board", args=[key]), moment) for key, moment in boards]
    releases = Release.objects.filter(benchmark__in=public.order_by(), revision__withdrawn_at=None).order_by("-pk")
    rows = releases.values_list("benchmark__key", "key", "created_at")[:MAX_LISTED]
    paths += [(reverse("release", args=[key, release]), moment) for key, release, moment in rows]
    entries = (
        f"<url><loc>{escape(site_address(path))}</loc>"
        + (f"<lastmod>{moment.date().isoformat()}</lastmod>" if moment else "")
        + "</url>\n"
        for path, moment in paths
    )
    head = '<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'
    return shared_answer(request, f"{head}{''.join(entries)}</urlset>\n", "application/xml; charset=utf-8")


@require_safe
def security(request: HttpRequest) -> HttpResponse:
    """Whom to tell of a hole in this installation (RFC 9116); there is no such page where no one is named."""
    if not settings.SECURITY_CONTACT:
        raise Http404
    # It expires at midnight, so that the page is the same for a day.
    expires = (timezone.now() + timedelta(days=EXPIRY_DAYS)).strftime("%Y-%m-%dT00:00:00Z")
    lines = [
        f"Contact: {settings.SECURITY_CONTACT}",
        f"Expires: {expires}",
        "Preferred-Languages: en",
        f"Canonical: {site_address(reverse('security_txt'))}",
        f"Policy: {site_address(reverse('document', args=['security']))}",
    ]
    return shared_answer(request, "".join(f"{line}\n" for line in lines), TEXT)
