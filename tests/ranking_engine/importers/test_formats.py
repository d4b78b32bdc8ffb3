"""What each importer reads of a file in its program's shape, what it leaves out, and what it says of that."""

import copy
import re
from pathlib import Path

import pytest

from ranking_engine.files.problems import InputError
from ranking_engine.importers import FORMATS, SourceFile, read_results
from tests.ranking_engine.importers import examples
from tests.ranking_engine.importers.examples import EXAMPLES, as_json

# system, revision, task, split, subset, metric -> value, standard error, n, higher is better
EXPECTED = {
    "inspect-ai": {("lab/one", "", "quiz", "", "", "accuracy"): (0.61, 0.01, 500, None)},
    "every-eval-ever": {("lab/one", "", "quiz", "", "", "acc"): (0.61, 0.01, 500, True)},
    "swe-bench": {("lab/one", "", "SWE-bench", "", "", "resolved"): (0.61, None, 500, True)},
    "lm-eval": {
        ("lab/one", "abc", "quiz", "", "", "acc"): (0.61, 0.01, 500, True),
        ("lab/one", "abc", "sums", "", "strict", "exact_match"): (0.25, None, 20, True),
        ("lab/one", "abc", "sums", "", "flexible", "exact_match"): (0.5, None, 20, True),
        ("lab/one", "abc", "all", "", "", "acc"): (0.4, 0.02, None, None),
    },
    "lighteval": {
        ("lab/one", "abc", "sums", "5-shot", "", "em"): (0.4, 0.02, 20, True),
        ("lab/one", "abc", "quiz", "0-shot", "law", "acc"): (0.5, 0.1, None, True),
    },
    "helm-run": {
        ("lab/one", "", "quiz", "test", "subject=law", "exact_match"): (0.61, 0.05, 100, None),
        ("lab/one", "", "quiz", "test", "subject=law", "runtime"): (2.5, None, None, None),
    },
    "helm-table": {
        ("One", "", "Quiz", "", "Accuracy", "EM"): (0.6, None, None, True),
        ("One", "", "Web", "", "Accuracy", "BPB"): (1.2, None, None, False),
        ("Two", "", "Quiz", "", "Accuracy", "EM"): (0.5, None, None, True),
        ("Two", "", "Web", "", "Accuracy", "BPB"): (None, None, None, False),
    },
    "mteb": {
        ("lab/one", "abc", "Pairs", "test", "", "main_score"): (0.7, None, None, None),
        ("lab/one", "abc", "Pairs", "test", "de", "main_score"): (0.6, None, None, None),
    },
    "bigbench": {("One", "", "riddles", "2-shot", "easy", "grade"): (0.4, None, None, None)},
    "model-index": {
        ("one", "", "DS", "test", "", "accuracy"): (0.91, None, None, None),
        ("one", "", "DS", "test", "", "f1"): (20.0, None, None, None),
    },
    "eval-results": {
        ("", "", "lab/quiz", "", "law", ""): (20.9, None, None, None),
        ("", "", "lab/quiz", "with tools", "law", ""): (22.0, None, None, None),
    },
    "opencompass": {
        ("One", "", "quiz", "gen", "abc123", "accuracy"): (61.0, None, None, None),
        ('Two "chat"', "", "quiz", "gen", "abc123", "accuracy"): (None, None, None, None),
        ("One", "", "sums", "ppl", "def456", "score"): (25.5, None, None, None),
        ('Two "chat"', "", "sums", "ppl", "def456", "score"): (30.25, None, None, None),
    },
    # Two wins to one are odds of 2, half of them on either side of the mean: 200 log10(2) points.
    "votes": {
        ("One", "", "quiz", "", "", "points"): (1060.20599913, None, 3, True),
        ("Two", "", "quiz", "", "", "points"): (939.794000867, None, 3, True),
        ("One", "", "sums", "", "", "points"): (1000.0, None, 1, True),
        ("Two", "", "sums", "", "", "points"): (1000.0, None, 1, True),
    },
    "table": {
        ("One", "", "Quiz", "", "", ""): (0.61, 0.01, 500, None),
        ("One", "", "Sums", "", "", ""): (None, None, None, None),
        ("Two", "", "Quiz", "", "", ""): (0.5, None, 500, None),
        ("Two", "", "Sums", "", "", ""): (0.25, None, None, None),
    },
    "folder": {
        ("One", "", "Quiz", "", "", ""): (0.61, None, None, True),
        ("One", "", "Errors", "", "", ""): (3.0, None, None, False),
        ("Two", "", "Quiz", "", "", ""): (0.5, None, None, True),
        ("Two", "", "Errors", "", "", ""): (5.0, None, None, False),
    },
}


@pytest.mark.parametrize("key", EXAMPLES)
def test_each_format_is_recognised_and_read_to_the_same_kind_of_record(key):
    results = read_results(EXAMPLES[key])
    assert results.format_key == key
    records = {
        (r.system, r.revision, *r.column): (r.value, r.standard_error, r.n, r.higher_is_better) for r in results.records
    }
    assert records == EXPECTED[key]
    assert all(len(r.raw_hash) == 64 and r.source for r in results.records)


@pytest.mark.parametrize("delimiter", [";", "\t"])
@pytest.mark.parametrize("files", [EXAMPLES["table"], examples.LONG_TABLE], ids=["wide", "long"])
def test_csv_of_a_spreadsheet_reads_as_the_same_file_with_commas_and_points(files, delimiter):
    (file,) = files
    written = file.text.replace(",", delimiter).replace(".", ",").encode()
    results = read_results([SourceFile(file.name, written)])
    assert results.format_key == "table"
    assert [(r.system, r.column, r.value, r.standard_error, r.n) for r in results.records] == [
        (r.system, r.column, r.value, r.standard_error, r.n) for r in read_results(files).records
    ]
    unclear = f"system{delimiter}T{delimiter}T_n\nA{delimiter}1,234{delimiter}\n".encode()
    with pytest.raises(InputError, match=r"^wide.csv: line 2: '1,234' may be a decimal number"):
        read_results([SourceFile("wide.csv", unclear)])


def test_every_format_has_an_example_and_reads_no_other_ones():
    assert {one.key for one in FORMATS} == set(EXAMPLES)
    for one in FORMATS:
        # Whoever recognises an example of another format comes after that one: the plain tables do.
        others = [key for key, files in EXAMPLES.items() if key != one.key and one.recognise(files)]
        order = [form.key for form in FORMATS]
        assert all(order.index(key) < order.index(one.key) for key in others), (one.key, others)


def test_what_is_derived_is_left_out_and_said_so():
    said = {
        "lm-eval": "all is a group: its mean is used only if you choose it",
        "lighteval": "left out: quiz:_average|0, an average",
        "helm-run": "1 statistics of perturbed",
        "helm-table": "left out: Mean win rate",
        "mteb": "its other metrics are left out",
        "bigbench": "left out: mean over riddles",
        "model-index": "which may be any spread",
        "opencompass": "left out: all, naive_average",
    }
    for key, text in said.items():
        assert any(text in note for note in read_results(EXAMPLES[key]).notes), key
    assert "left out: all, an average over tasks" in read_results(EXAMPLES["lighteval"]).notes


def test_a_mean_over_a_group_and_what_says_how_a_run_was_made_are_asides():
    of_lm_eval = {(r.task, r.value): r.aside for r in read_results(EXAMPLES["lm-eval"]).records}
    mean = "a mean over a group, whose parts are columns as well"
    assert of_lm_eval == {("quiz", 0.61): "", ("sums", 0.25): "", ("sums", 0.5): "", ("all", 0.4): mean}
    counted = [*examples.HELM_STATS, {"name": {"name": "num_references", "split": "test"}, "count": 1, "mean": 4}]
    files = [as_json("stats.json", counted), as_json("run_spec.json", examples.HELM_SPEC)]
    of_helm = {r.metric: r.aside for r in read_results(files).records}
    assert of_helm == {"exact_match": "", "runtime": "", "num_references": "says how the run was made"}


def test_a_group_of_opencompass_has_no_version_and_is_left_out_even_where_its_metric_is_one_of_its_parts():
    text = examples.OPENCOMPASS + "quizzes,-,accuracy,gen,60.00,50.00\n"
    recognised = read_results([SourceFile("summary.csv", text.encode())])
    assert {record.task for record in recognised.records} == {"quiz", "sums"}
    assert "left out: quizzes, accuracy: derived from others" in recognised.notes


def test_the_three_files_of_one_summary_of_opencompass_say_the_same():
    """As version 0.5.4 writes them: a Markdown table, and all forms below each other."""
    rows = [line.split(",") for line in examples.OPENCOMPASS.splitlines()]
    (table,) = EXAMPLES["opencompass"]
    lines = [f"| {' | '.join(row)} |" for row in rows]
    markdown = "\n".join([lines[0], f"|{' | '.join(['-----'] * len(rows[0]))}|", *lines[1:]]) + "\n"
    bars, dollars = "^" * 128, "$" * 128
    text = (
        f"20260131_120000\ntabulate format\n{bars}\ndataset  version\n{dollars}\n\n{'-' * 128} THIS IS A DIVIDER\n\n"
        f"csv format\n{bars}\n{examples.OPENCOMPASS}{dollars}\n\nmarkdown format\n{bars}\n{markdown}\n{dollars}\n"
        f"raw format\n{bars}\nModel: One\nquiz: {{'accuracy': 61.0}}\n{dollars}\n"
    )
    others = [SourceFile("summary.md", markdown.encode()), SourceFile("summary.txt", text.encode())]
    expected = [(r.system, r.column, r.value) for r in read_results([table]).records]
    assert expected
    for files in ([others[0]], [others[1]], [*others, table]):
        results = read_results(files)
        assert results.format_key == "opencompass"
        assert [(r.system, r.column, r.value) for r in results.records] == expected


def test_numbers_that_are_not_finite_matter_only_where_they_are_read():
    of_mteb = copy.deepcopy(examples.MTEB)
    of_mteb["scores"]["test"][0] |= {"nauc_map_at_1_std": float("nan"), "worst": float("-inf")}
    values = [record.value for record in read_results([as_json("Pairs.json", of_mteb)]).records]
    assert values == [0.7, 0.6]
    of_mteb["scores"]["test"][1]["main_score"] = float("nan")
    _refuses([as_json("Pairs.json", of_mteb)], "Pairs.json, scores.test, entry 2, main_score: a score must be a finite")
    without_error = _changed(examples.LM_EVAL, ("results", "quiz", "acc_stderr,none"), float("nan"))
    (record, *_) = _read(without_error)
    assert (record.value, record.standard_error) == (0.61, None)


def test_runs_with_other_numbers_of_examples_are_columns_of_their_own():
    files = [
        as_json(f"{n}.json", examples.LM_EVAL | {"n-shot": {"quiz": n, "sums": 5}, "results": {
            "quiz": {"acc,none": 0.5 + n / 100}, **({"sums": {"exact_match,strict": 0.25}} if n == 0 else {})}})
        for n in (0, 5)
    ]  # fmt: skip
    expected = {("quiz", "0-shot"): 0.5, ("quiz", "5-shot"): 0.55, ("sums", ""): 0.25}
    for named in (files, [SourceFile("results.json", file.data) for file in files]):  # browsers leave folders out
        assert {(record.task, record.split): record.value for record in read_results(named).records} == expected


@pytest.mark.parametrize(("key", "text"), [("lm-eval", "sums: run with a limit, on 20 of 100"),
                                           ("lighteval", "sums|5: run with a limit, on 20 of 100")])  # fmt: skip
def test_runs_on_some_instances_only_are_flagged(key, text):
    (warning,) = read_results(EXAMPLES[key]).warnings
    assert text in warning
    limited = copy.deepcopy(examples.LM_EVAL) | {"config": {"limit": 10}}
    assert any("run with a limit (10)" in one for one in read_results([as_json("r.json", limited)]).warnings)


def test_old_results_without_filters_and_with_the_model_among_its_arguments_are_read():
    old = {
        "results": {"quiz": {"acc": 0.5, "acc_stderr": 0.1, "acc_norm": 0.6, "acc_norm_stderr": "N/A"}},
        "versions": {"quiz": 0},
        "config": {"model": "hf", "model_args": "pretrained=lab/old,revision=main", "limit": None},
    }
    records = [(r.system, r.revision, r.metric, r.value, r.standard_error) for r in _read(old)]
    assert records == [("lab/old", "main", "acc", 0.5, 0.1), ("lab/old", "main", "acc_norm", 0.6, None)]


def test_a_lighteval_task_is_found_in_its_configuration_with_suite_and_without():
    about = copy.deepcopy(examples.LIGHTEVAL)
    about["results"] = {"lighteval|sums|5|0": {"em": 0.4}}
    about["config_tasks"] = {"sums": examples.LIGHTEVAL["config_tasks"]["lighteval|sums"]}
    (record,) = _read(about)
    assert (record.task, record.split, record.n, record.higher_is_better) == ("sums", "5-shot", 20, True)


def test_several_helm_runs_are_paired_by_their_names():
    second = examples.HELM_SPEC | {"name": "sums:model=lab_one", "groups": ["sums"]}
    files = [
        as_json("a_stats.json", examples.HELM_STATS),
        as_json("b_stats.json", examples.HELM_STATS),
        as_json("b_run_spec.json", second),
        as_json("a_run_spec.json", examples.HELM_SPEC),
    ]
    assert {(r.task, r.source) for r in read_results(files).records} == {
        ("quiz", "a_stats.json"),
        ("sums", "b_stats.json"),
    }
    _refuses(files[:3], "there is no a_run_spec.json beside it")
    _refuses(EXAMPLES["helm-run"][:1], "there is no run_spec.json beside it")


def test_the_model_of_an_mteb_result_is_read_off_its_folders():
    (record, _) = read_results([as_json("lab__one/abc/Pairs.json", examples.MTEB)]).records
    assert (record.system, record.revision) == ("lab/one", "abc")
    assert {r.system for r in read_results([as_json("Pairs.json", examples.MTEB)]).records} == {""}


def test_a_bigbench_list_without_subtasks_is_the_task_itself():
    score = examples.BIGBENCH["scores"][1]
    (record,) = _read([score])
    assert (record.system, record.task, record.value) == ("", "mean over riddles", 0.9)


def _changed(document, path, value):
    result = copy.deepcopy(document)
    inner = result
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return result


def _text(name, text):
    return [SourceFile(name, text if isinstance(text, bytes) else text.encode())]


def test_the_manual_shows_a_file_of_every_format_that_is_read_as_that_format():
    text = (Path(__file__).parents[3] / "docs" / "importing.md").read_text()
    fitting = {"": "a.csv", "json": "a.json", "yaml": "a.yaml", "toml": "benchmark.toml", "jsonl": "a.jsonl"}
    formats = []
    for section in text.split("\n## ")[1:]:
        blocks = re.findall(r"^```(\w*)\n(.*?)^```", section, re.MULTILINE | re.DOTALL)
        names = [fitting[language] for language, _ in blocks]
        if "benchmark.toml" in names:
            names[0] = "scores.csv"
        if blocks[0][1].startswith("---\n"):
            names[0] = "README.md"
        files = [SourceFile(name, content.encode()) for name, (_, content) in zip(names, blocks, strict=True)]
        formats.append(read_results(files).format_key)
    assert sorted(formats) == sorted([*EXAMPLES, "lm-eval"])  # whose samples have a section of their own


OLD_MTEB = {"mteb_dataset_name": "Pairs", "test": {"accuracy": 0.5}}
NO_MAIN = _changed(examples.MTEB, ("scores", "test", 0, "main_score"), None)
BOMB = "a: &a [1]\nb: [*a, *a]\nmodel-index: []\n"
BROKEN = {
    "nothing": ([], "no file was chosen"),
    "empty": (_text("a.csv", " \n"), "a.csv: the file is empty"),
    "archive": (_text("a.zip", b"PK\x03\x04abc"), "a.zip: the archive is damaged"),
    "gzip": (_text("results.json", b"\x1f\x8b\x08"), "results.json: the .gz file is cut off"),
    "latin-1": (_text("a.json", '{"é": 1}'.encode("latin-1")), "a.json, line 1: byte 0xe9 is not UTF-8"),
    "unknown": (_text("a.json", '{"a": 1}'), "a.json: the format of these files is not supported"),
    "other csv": (_text("a.csv", "name,b\n1,2\n"), "the column 'name' may not be the systems"),
    "cut json": (_text("a.json", '{"results": {\n "a": '), "a.json, line 2: not valid JSON"),
    "key twice": (_text("a.json", '{"results": {}, "results": {}}'), "the key 'results' appears twice"),
    "NaN": (
        _text("a.json", '{"results": {"q": {"acc": NaN}}, "versions": {}}'),
        "a.json, results.q.acc: a score must be a finite number",
    ),
    "infinite": (
        _text("a.json", '{"results": {"q": {"acc": 1e999}}, "versions": {}}'),
        "a.json, results.q.acc: a score must be a finite number",
    ),
    "a name that is no name": (
        _text("a.json", '{"results": {"q": {"acc": 1}}, "versions": {}, "model_name": Infinity}'),
        "a.json, model_name: the model is inf, which is not text",
    ),
    "samples": (
        _text("samples.jsonl", '{"doc_id": 0}\n{"doc_id": 1}\n'),
        "samples.jsonl: expected a header with at least two columns",
    ),
    "long integer": (
        _text("a.json", '{"results": {"q": {"acc": 1%s}}, "versions": {}}' % ("0" * 400)),
        "finite number",
    ),
    "deep": (_text("a.json", "[" * 200 + "]" * 200), "nested deeper than 50 levels"),
    "very deep": (_text("a.json", "[" * 200_000), "nested deeper"),
    "text in place of a score": (
        [as_json("a.json", _changed(examples.LM_EVAL, ("results", "quiz", "acc,none"), "high"))],
        "a.json, results.quiz.acc,none: 'high' is not a number",
    ),
    "old mteb": ([as_json("a.json", OLD_MTEB)], "a.json: written by an MTEB before 1.11"),
    "no main score": ([as_json("a.json", NO_MAIN)], "a.json, scores.test, entry 1: there is no main_score"),
    "yaml aliases": (_text("a.yaml", BOMB), "a.yaml, line 2: aliases are not supported"),
    "yaml twice": (
        _text("a.yaml", "- dataset: {id: a}\n  value: 1\n  value: 2\n"),
        "a.yaml, line 3: not valid YAML: the key",
    ),
    "yaml nan": (
        _text("a.yaml", "- dataset: {id: a}\n  value: .nan\n"),
        "a.yaml, entry 1, value: a score must be a finite",
    ),
    "yaml object": (_text("a.yaml", "- !!python/object:os.system {}\n"), "not valid YAML"),
    "yaml deep": (_text("a.yaml", "[" * 400), "nested deeper"),
    "ragged": (_text("a.csv", "system,Quiz\nOne,1,2\n"), "a.csv, line 2: the row has 3 cells, the header has 2"),
    "open quote": (_text("a.csv", 'system,Quiz\nOne,"1\n'), "not readable as CSV"),
    "wide text": (
        _text("a.csv", "system,Quiz\nOne,1x\nTwo,2\n"),
        "a.csv, line 2, column 'Quiz': '1x' is not a number",
    ),
    "percent and none": (
        _text("a.csv", "system,Quiz\nOne,1%\nTwo,2\n"),
        "a.csv, column 'Quiz': some cells have a percent sign and others have none",
    ),
    "negative error": (_text("a.csv", "system,Q,Q_stderr\nOne,1,-1\n"), "a standard error cannot be below 0"),
    "half an instance": (_text("a.csv", "system,Q,Q_n\nOne,1,2.5\n"), "the number of instances must be a whole number"),
    "long direction": (
        _text("a.csv", "system,task,score,higher_is_better\nOne,Q,1,up\n"),
        "line 2, column higher_is_better: write true or false",
    ),
    "score twice": (_text("a.csv", "system,task,score\nOne,Q,1\nOne,Q,2\n"), "a second score of One on Q"),
    "directions at odds": (
        _text("a.csv", "system,task,score,higher_is_better\nOne,Q,1,true\nTwo,Q,1,false\n"),
        "Q: two files disagree whether higher is better",
    ),
    "opencompass comma": (_text("a.csv", examples.OPENCOMPASS + "x,y\n"), "a.csv, line 6: the row has 2 cells"),
    "opencompass without a line below the header": (
        _text("a.md", "| dataset | version | metric | mode | One |\n| quiz | a1 | acc | gen | 61.0 |\n"),
        "a.md: the table does not begin with the columns dataset, version, metric, mode",
    ),
    "opencompass with another table": (
        _text("a.txt", "2026\ntabulate format\n^^^\n\ncsv format\n^^^\nquiz\nsums\n$$$\n"),
        "a.txt: the table does not begin with the columns dataset, version, metric, mode",
    ),
    "folder without a column": (
        [SourceFile("scores.csv", b"system,Quiz\nOne,1\n"), EXAMPLES["folder"][1]],
        "task 'Errors' of benchmark.toml has no column",
    ),
    "broken toml": (
        [EXAMPLES["folder"][0], SourceFile("benchmark.toml", b"[[task]]\nname = \n")],
        "benchmark.toml, line 2",
    ),
    "unknown key in toml": (
        [EXAMPLES["folder"][0], SourceFile("benchmark.toml", b'[[task]]\nname = "Quiz"\nodd = 1\n')],
        "benchmark.toml, line 3: unknown key 'odd' in [[task]]",
    ),
    "mixed": (EXAMPLES["lm-eval"] + EXAMPLES["table"], "these files are of several formats"),
    "too many": ([EXAMPLES["table"][0]] * 1001, "more than 1,000 files; import them in parts"),
    "a name that turns round": (_text("a.csv", "system,Q\nO\u202ene,1\n"), "contains a character that cannot be shown"),
    "half a pair": (_text("a.json", '[{"score_dict": {"a": 1}, "preferred_score": "\\ud800"}]'), "cannot be shown"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_is_refused_with_its_place(name):
    _refuses(*BROKEN[name])


def _refuses(files, message):
    with pytest.raises(InputError) as caught:
        read_results(files)
    lines = [str(problem) for problem in caught.value.problems.listed]
    assert any(message in line for line in lines), lines


def _read(document):
    return read_results([as_json("results.json", document)]).records
