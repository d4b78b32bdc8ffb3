"""The published tables of four papers, recomputed: `python -m reproduction` writes docs/papers.md.

One module a paper; each of its sections is a function that returns what was published, what we compute, and whether
they agree or why not. What was published is typed in `published/`, with its source; our figures are always computed.
"""
