"""A frozen revision as one file."""

from django.http import Http404, HttpRequest, HttpResponse
from django.utils.http import content_disposition_header
from django.utils.translation import gettext
from django.views.decorators.http import require_safe

from leaderboard.access.audience import readable_benchmark
from leaderboard.boards.open_data.archive import release_zip
from leaderboard.boards.open_data.tables import TooManyRowsError
from leaderboard.common.text import as_sentence
from leaderboard.on_demand.allowance import may_ask
from leaderboard.rankings.revisions import publication_at, release_of, visible_hash


@require_safe
def release_data(request: HttpRequest, key: str, release_key: str) -> HttpResponse:
    """Scores, ranks, studies and metadata of a frozen revision as a zip."""
    benchmark, audience = readable_benchmark(request.user, key)
    release = release_of(benchmark, release_key)
    publication = publication_at(benchmark, release.revision.number)
    if publication is None:
        raise Http404(
            gettext("The rankings of revision %(number)s are not stored.") % {"number": release.revision.number}
        )
    if not may_ask(request):
        text = gettext("Too many downloads in a minute. Try again later.")
        return HttpResponse(text, status=429, content_type="text/plain; charset=utf-8")
    try:
        packed = release_zip(release, publication, visible_hash(release.revision, audience))
    except TooManyRowsError as error:
        return HttpResponse(f"{as_sentence(str(error))}\n", status=422, content_type="text/plain; charset=utf-8")
    response = HttpResponse(packed, content_type="application/zip")
    name = f"{benchmark.key}-{release.key}.zip"
    response["Content-Disposition"] = content_disposition_header(as_attachment=True, filename=name)
    response["Cache-Control"] = "private, no-store"
    return response
