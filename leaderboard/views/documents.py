"""The documentation."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from leaderboard.services import documents as service


@require_safe
def documents(request: HttpRequest) -> HttpResponse:
    """What there is to read, the first hour first."""
    context = {"first_hours": service.first_hours(), "documents": service.other_documents()}
    return render(request, "leaderboard/documents.html", context)


@require_safe
def document(request: HttpRequest, path: str) -> HttpResponse:
    """One document."""
    found = service.find_document(path)
    if found is None:
        raise Http404(f"The documentation has no page {path!r}.")
    return render(request, "leaderboard/document.html", {"document": found})


@require_safe
def document_file(request: HttpRequest, path: str) -> HttpResponse:
    """A picture of the documentation."""
    file = service.find_file(path)
    if file is None:
        raise Http404(f"The documentation has no picture {path!r}.")
    response = HttpResponse(file.read_bytes(), content_type=service.FILES[file.suffix])
    response["Cache-Control"] = "public, max-age=3600"
    return response
