"""What files say of systems beside their scores."""

import pytest

from ranking_engine.files.metadata import STARTER
from ranking_engine.importers import SourceFile, read_results
from ranking_engine.importers.records import FACT_LENGTH, Collector
from ranking_engine.importers.score_files import read_score_files
from tests.ranking_engine.importers import examples
from tests.ranking_engine.importers.examples import EXAMPLES, as_json

MODELS = SourceFile("model_metadata.yaml", examples.HELM_MODELS.encode())
OF_ONE = {"parameters": 7000000000, "released": "2024-05-31", "organisation": "The Lab", "open-weights": True}
STATED = {
    "lm-eval": {"lab/one": {"parameters": 6738415616, "context-length": 4096}},
    "helm-run": {"lab/one": OF_ONE},
    "mteb": {"lab/one": {"parameters": 7000000000, "released": "2024-05-31", "licence": "mit", "open-weights": True}},
    "model-index": {"one": {"licence": "community-1", "base-model": "lab/zero"}},
}


@pytest.mark.parametrize("key", EXAMPLES)
def test_what_an_example_states_of_its_systems_is_kept(key):
    assert read_results(EXAMPLES[key]).metadata == STATED.get(key, {})


def test_a_table_of_helm_knows_models_by_the_names_that_it_shows():
    recognised = read_results([as_json("core.json", examples.HELM_TABLE), MODELS])
    assert (recognised.format_key, recognised.metadata) == ("helm-table", {"One": OF_ONE})


def test_models_alone_are_no_results():
    with pytest.raises(ValueError, match="not supported"):
        read_results([MODELS])


@pytest.mark.parametrize(("access", "is_open"), [("open", True), ("limited", False), ("closed", False), ("x", None)])
def test_access_says_whether_weights_are_open(access, is_open):
    models = as_json("models.json", {"models": [{"name": "lab/one", "access": access}]})
    metadata = read_results([*EXAMPLES["helm-run"][:2], models]).metadata
    assert metadata == ({} if is_open is None else {"lab/one": {"open-weights": is_open}})


@pytest.mark.parametrize(
    ("card", "facts"),
    [
        ("license: mit", {"licence": "mit"}),
        ("license: other", {"licence": "other"}),
        ("base_model: [lab/a, lab/b]", {"base-model": "lab/a, lab/b"}),
        ("base_model: {a: b}\nlicense: [mit]", {}),
    ],
)
def test_a_model_card_states_licence_and_base_model(card, facts):
    text = examples.MODEL_CARD.replace("license: other\nlicense_name: community-1\nbase_model: lab/zero", card)
    assert read_results([SourceFile("README.md", text.encode())]).metadata == ({"one": facts} if facts else {})


def test_marked_columns_of_a_table_are_metadata_and_no_tasks():
    table = "system;Quiz;meta:Parameters;META: Licence\nOne;0,61;7,5B;mit\nTwo;0,5;;-\n"
    recognised = read_results([SourceFile("wide.csv", table.encode())])
    assert {record.task for record in recognised.records} == {"Quiz"}
    assert recognised.metadata == {"One": {"Parameters": "7,5B", "Licence": "mit"}}


def test_a_folder_has_the_metadata_that_its_description_states():
    about = examples.FOLDER_ABOUT + (
        '[[field]]\nname = "Parameters"\nkind = "number"\n[[system]]\nname = "Two"\nmetadata = {parameters = 5}\n'
    )
    files = [EXAMPLES["folder"][0], SourceFile("benchmark.toml", about.encode())]
    assert read_results(files).metadata == {"Two": {"parameters": 5}}


def test_the_package_has_it_as_texts_by_system(tmp_path):
    for file in EXAMPLES["helm-run"]:
        (tmp_path / file.name).write_bytes(file.data)
    table = read_score_files([tmp_path]).table
    assert (table.system_names, dict(table.metadata)) == (
        ("lab/one",),
        {
            "parameters": ("7000000000",), "released": ("2024-05-31",), "organisation": ("The Lab",),
            "open-weights": ("yes",),
        },
    )  # fmt: skip


def test_keys_are_those_of_the_fields_that_owners_begin_with():
    known = {field.key for field in STARTER} | {"organisation"}
    assert {key for facts in STATED.values() for one in facts.values() for key in one} <= known


@pytest.mark.parametrize(
    "given", [None, "", "N/A", [], {}, "x" * (FACT_LENGTH + 1), "a\u202eb", float("nan"), float("inf"), 10**400]
)
def test_what_is_no_short_value_is_left_out(given):
    collect = Collector()
    collect.describe("One", {"licence": given})
    assert collect.metadata == {}
