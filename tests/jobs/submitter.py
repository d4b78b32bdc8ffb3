"""A process that accepts submissions through the site's services, as the web server does, with the site's own broker.

`python -m tests.jobs.submitter BENCHMARK_ID` reads one JSON object of scores by system a line, and answers each with
the number of the revision and the seconds until the acceptance had committed and every wake-up was tried.
"""

import json
import os
import sys
import time
from typing import Any


class Submitter:
    """The other end of such a process."""

    def __init__(self, site: Any, benchmark: Any) -> None:
        command = [sys.executable, "-m", "tests.jobs.submitter", str(benchmark.pk)]
        (reads, writes), (answers, answered) = os.pipe(), os.pipe()
        with (site.folder / "submitter.log").open("ab") as log:
            self.process = site.launch(command, reads, answered, log.fileno())
        os.close(reads), os.close(answered)
        self.process.stdin, self.process.stdout = os.fdopen(writes, "w"), os.fdopen(answers)
        site.running["submitter"] = self.process

    def accept(self, scores: dict[str, list[float | None]]) -> dict[str, float]:
        """Have one batch accepted; returns its `number`, the `seconds` it took and `at`, when it had committed."""
        self.process.stdin.write(json.dumps(scores) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def close(self) -> None:
        """Let the process end."""
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait(timeout=10)


def main() -> None:
    """Answer line by line."""
    import django

    import config.celery  # noqa: F401 -- the broker; it also says where the settings are

    django.setup()
    from leaderboard.models import Benchmark
    from tests.factories import Factory

    benchmark, factory = Benchmark.objects.get(pk=int(sys.argv[1])), Factory()
    for line in sys.stdin:
        started = time.monotonic()
        revision = factory.accepted(benchmark, json.loads(line))
        answer = {"number": revision.number, "seconds": time.monotonic() - started, "at": time.time()}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
