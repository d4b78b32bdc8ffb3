"""The list of metrics: what every record says, and that libraries are imported where a metric is computed."""

import subprocess
import sys
from importlib import metadata

import pytest

from ranking_engine.evaluation.metric import Library, MissingLibraryError
from ranking_engine.evaluation.metrics import METRICS, Kind, is_available, library_version
from ranking_engine.evaluation.metrics.libraries import load
from tests.ranking_engine.evaluation.metrics import page


@pytest.mark.parametrize("metric", METRICS.values(), ids=list(METRICS))
def test_every_record_says_what_people_ask(metric):
    assert metric.description.endswith(".")
    assert metric.citation
    assert metric.lowest < metric.highest
    assert metric.reference_kind in Kind
    assert is_available(metric)
    assert library_version(metric) == (metadata.version(metric.library.distribution) if metric.library.module else "")
    assert metric.takes_weights or metric.instance_values is None
    needed = [option.key for option in metric.options if option.is_needed]
    assert needed == (["positive"] if metric.key in ("f1", "roc_auc", "average_precision") else [])


def test_no_library_is_imported_before_a_metric_is_computed():
    program = (
        "import sys; import ranking_engine.evaluation.reading, ranking_engine.evaluation.metrics as m;"
        "[m.is_available(metric) for metric in m.METRICS.values()];"
        "print([name for name in ('sklearn', 'scipy', 'sacrebleu', 'seqeval', 'rouge_score', 'jiwer', 'ir_measures',"
        " 'pandas', 'nltk') if name in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout == "[]\n"


def test_a_library_that_is_not_installed_is_named_with_what_to_install():
    with pytest.raises(
        MissingLibraryError, match=r"this metric needs no-such: install plurank with its extra `scoring`"
    ):
        load(Library("no-such", "no_such_module"))


def test_the_page_lists_every_metric_as_its_record_says():
    text = page.PAGE.read_text(encoding="utf-8")
    assert text == page.written(text)
