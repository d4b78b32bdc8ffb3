"""Files that are read in pieces say what they say when they are read at once."""

from dataclasses import fields, replace

import pytest

from ranking_engine.files.problems import InputError
from ranking_engine.importers import SourceFile, documents, read_results
from ranking_engine.importers.documents import COMPANIONS, MAX_FILES_AT_A_TIME, pieces
from ranking_engine.importers.records import Recognised
from ranking_engine.importers.score_files import read_score_files
from tests.ranking_engine.importers.examples import (
    EXAMPLES,
    HELM_MODELS,
    HELM_SPEC,
    HELM_STATS,
    HELM_TABLE,
    LONG_TABLE,
    MTEB,
    MTEB_META,
    OPENCOMPASS,
    as_json,
)

MARKED_TABLE = [SourceFile("wide.csv", b"system,Quiz,meta:Parameters,meta:Licence\nOne,0.30000000000000004,7B,mit\n")]
RUNS = EXAMPLES | {"long table": LONG_TABLE, "marked table": MARKED_TABLE}
# What another run of the same systems is called in the files of each format: other tasks, and fewer facts.
OTHER = (
    (b'"quiz', b'"more'), (b'"sums', b'"bits'), (b"quiz:", b"more:"), (b'"Quiz - EM"', b'"More - EM"'),
    (b'"Web - BPB"', b'"Net - BPB"'), (b'"Pairs"', b'"Couples"'), (b'"riddles', b'"jokes'), (b"name: DS", b"name: D2"),
    (b'"all": {"acc', b'"each": {"acc'), (b'"all": [', b'"each": ['), (b"lab/quiz", b"lab/more"), (b"quiz,", b"more,"),
    (b"sums,", b"bits,"), (b",quiz\n", b",more\n"), (b",sums\n", b",bits\n"), (b"Quiz", b"More"), (b"Sums", b"Bits"),
    (b'"model_num_parameters": 6738415616', b'"model_num_parameters": null'), (b"base_model: lab/zero\n", b""),
    (b"7B,mit", b"-,mit"),
)  # fmt: skip


def runs_of(example):
    """Two runs in one folder, beside the one file that describes it."""
    shared = [file for file in example if file.base in COMPANIONS]
    first = [file for file in example if file.base not in COMPANIONS]
    second = []
    for file in first:
        data = file.data
        for old, new in OTHER:
            data = data.replace(old, new)
        second.append(SourceFile(f"other_{file.name}", data))
    return [*first, *second, *shared]


def facts(recognised):
    return {field.name: getattr(recognised, field.name) for field in fields(Recognised)}


# A folder is one table, and votes are one file.
@pytest.mark.parametrize("key", [key for key in RUNS if key not in ("folder", "votes")])
def test_pieces_of_one_run_say_all_that_the_files_say_at_once(key, monkeypatch):
    files = runs_of(RUNS[key])
    whole = read_results(files)
    assert len(list(pieces(files))) == 1
    monkeypatch.setattr(documents, "MAX_FILES_AT_A_TIME", len(RUNS[key]))
    assert len(list(pieces(files))) == 2
    in_pieces = read_results([replace(file) for file in files])
    assert facts(in_pieces) == facts(whole)
    assert len(whole.records) == 2 * len(read_results(RUNS[key]).records)


def test_what_is_rounded_is_counted_over_all_pieces(monkeypatch):
    monkeypatch.setattr(documents, "MAX_FILES_AT_A_TIME", 1)
    notes = [f"system,Task {k}\nOne,92.19999999999999\n".encode() for k in range(3)]
    recognised = read_results([SourceFile(f"{k}.csv", data) for k, data in enumerate(notes)])
    assert recognised.notes == ["3 scores are rounded to 12 significant digits: 92.19999999999999 is read as 92.2"]


def helm_run(task, *others):
    """A folder as HELM writes it: a run, and what it has beside its scores."""
    folder = f"runs/v1/{task}"
    spec = HELM_SPEC | {"name": f"{task}:subject=law,model=lab_one", "groups": [task]}
    names = ["scenario", "scenario_state", *others]
    return [
        *(as_json(f"{folder}/{name}.json", {"name": name, "request_states": []}) for name in names),
        as_json(f"{folder}/run_spec.json", spec),
        as_json(f"{folder}/stats.json", HELM_STATS),
    ]


def mteb_model(folder, *files):
    return [as_json(f"results/{folder}/{name}", document) for name, document in files]


def summary(name):
    """The three files of one summary of OpenCompass."""
    rows = OPENCOMPASS.replace('Two "chat"', "Two").replace("quiz", f"quiz {name}").replace("sums", f"sums {name}")
    marked = [f"| {line.replace(',', ' | ')} |" for line in rows.splitlines()]
    marked.insert(1, "|---" * marked[0].count(" | ") + "|---|")
    text = f"20260101\ntabulate format\n^^^\n-\n$$$\n\ncsv format\n^^^\n{rows}\n$$$\n"
    forms = {"csv": rows, "md": "\n".join(marked), "txt": text}
    return [SourceFile(f"summary/summary_{name}.{end}", data.encode()) for end, data in forms.items()]


def table(name, cell="0.5"):
    return SourceFile(f"{name}.csv", f"system,Task {name}\nOne,{cell}\n".encode())


PREDICTIONS = [{"instance_id": f"id{k}", "predicted_text": "x", "words": k} for k in range(3)]
MODELS = SourceFile("config/model_metadata.yaml", HELM_MODELS.encode())
TASK, META = ("Pairs.json", MTEB), ("model_meta.json", MTEB_META)
# Of each: what is read as which format, or the end of the message that refuses it.
FOLDERS = {
    "other files than those of runs": (helm_run("a", "b", "c", "d") + helm_run("b", "e", "f", "g"), "helm-run"),
    "only other files": (helm_run("a", "b", "c")[:-2], "the format of these files is not supported"),
    "predictions": ([as_json(f"{k}.json", PREDICTIONS) for k in range(4)] + EXAMPLES["lm-eval"], "lm-eval"),
    "tables and results": ([*map(table, "abcd"), *EXAMPLES["lm-eval"]], "import them one after another"),
    "tables and summaries": ([*map(table, "abcd"), *EXAMPLES["opencompass"]], "table"),
    "several votes": ([replace(EXAMPLES["votes"][0], name=f"{k}.csv") for k in range(5)], "'category': ignored"),
    "tables, some without scores": ([*(table(name, "-") for name in "abcd"), table("e")], "table"),
    "tables of both shapes": ([*map(table, "abcd"), *LONG_TABLE], "table"),
    "tables with slips": ([table(name, "1\nTwo,2\nThree,many") for name in "abcde"], "'many' is not a number"),
    "summaries in three forms": ([file for name in "abc" for file in summary(name)], "opencompass"),
    "models of runs": ([MODELS, *helm_run("a"), *helm_run("b")], "helm-run"),
    "models of tables": ([as_json(f"{k}/core.json", HELM_TABLE | {"title": f"T{k}"}) for k in "abcd"] + [MODELS],
                         "helm-table"),
    "models of MTEB": (
        [
            *mteb_model("lab__one/abc", TASK, ("More.json", MTEB | {"task_name": "More"}), META),
            *mteb_model("lab__two/x", TASK, ("model_meta.json", MTEB_META | {"name": "lab/two", "revision": "x"})),
            *mteb_model("lab__three/y", TASK),
        ],
        "mteb",
    ),
}  # fmt: skip


def outcome(files):
    try:
        return facts(read_results([replace(file) for file in files]))
    except InputError as error:
        return [str(problem) for problem in error.problems.listed]


@pytest.mark.parametrize("name", FOLDERS)
def test_a_folder_is_judged_and_read_however_many_files_are_read_at_a_time(name, monkeypatch):
    files, expected = FOLDERS[name]
    whole = outcome(files)
    assert whole["format_key"] == expected if isinstance(whole, dict) else whole[-1].endswith(expected)
    for at_a_time in (2, 3, 4):
        monkeypatch.setattr(documents, "MAX_FILES_AT_A_TIME", at_a_time)
        assert outcome(files) == whole


def test_models_of_helm_are_described_by_a_file_in_another_folder(tmp_path):
    facts_of_one = {"parameters": 7000000000, "released": "2024-05-31", "organisation": "The Lab", "open-weights": True}
    for name in ("models of runs", "models of tables"):
        (metadata,) = read_results(FOLDERS[name][0]).metadata.values()
        assert metadata == facts_of_one
    for file in FOLDERS["models of runs"][0]:
        path = tmp_path / file.name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(file.data)
    assert read_score_files([tmp_path]).table.metadata["organisation"] == ("The Lab",)


def test_each_model_of_mteb_has_the_name_that_its_own_folder_states():
    systems = {(record.system, record.revision) for record in read_results(FOLDERS["models of MTEB"][0]).records}
    assert systems == {("lab/one", "abc"), ("lab/two", "x"), ("lab/three", "y")}


def test_files_of_one_name_that_are_more_than_are_read_at_a_time_are_refused_with_the_reason():
    files = [as_json("stats.json", HELM_STATS) for _ in range(MAX_FILES_AT_A_TIME + 1)]
    assert outcome(files) == ["stats.json: more than 200 files belong together; put each run into a folder of its own"]
