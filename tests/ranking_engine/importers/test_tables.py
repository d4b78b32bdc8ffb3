"""Tables as people and tools save them: which columns are what, which numbers are read, and what is asked."""

from pathlib import Path

import pytest

from ranking_engine.files.problems import InputError
from ranking_engine.files.roles import ColumnChoices
from ranking_engine.importers import SourceFile, UnclearColumnsError, read_results
from tests.ranking_engine.importers import examples

FILES = Path(__file__).parent / "files"
PLAIN = {("One", "Quiz"): 0.5, ("One", "Sums"): None, ("Two", "Quiz"): 0.25, ("Two", "Sums"): 3.0}


def source(name, text):
    return SourceFile(name, text.encode())


def scores(files, **more):
    return {(r.system, r.task): r.value for r in read_results(files, **more).records}


@pytest.mark.parametrize("name", examples.TABLES)
def test_the_same_scores_are_read_whatever_the_table_is_written_in(name):
    results = read_results([examples.TABLES[name]])
    assert results.format_key == "table"
    assert {(r.system, r.task): r.value for r in results.records} == PLAIN


@pytest.mark.parametrize("name", ["openpyxl-3.1.5.xlsx", "odfpy-1.4.1.ods", "pandas-3.1.1.parquet"])
def test_workbooks_and_parquet_files_made_by_other_programs_are_read(name):
    choices = ColumnChoices(sheet="Results") if "parquet" not in name else None
    assert scores([SourceFile(name, (FILES / name).read_bytes())], columns=choices) == PLAIN


def test_the_sheet_of_a_workbook_is_asked_for_where_several_have_cells():
    file = SourceFile("a.xlsx", (FILES / "openpyxl-3.1.5.xlsx").read_bytes())
    with pytest.raises(UnclearColumnsError, match="which sheet is meant: there are 'Notes', 'Results'"):
        read_results([file])
    with pytest.raises(InputError, match="there is no sheet 'Result' with cells"):
        read_results([file], columns=ColumnChoices(sheet="Result"))


@pytest.mark.parametrize(
    ("cell", "value", "error"),
    [("61.0 %", 61.0, None), ('"1,250.5"', 1250.5, None), ("0.61 ± 0.01", 0.61, 0.01), ("0.30 (0.02)", 0.3, 0.02),
     ("−3", -3.0, None), ("61.0% ± 1.5%", 61.0, 1.5), ("0.5 [0.4, 0.6]", None, None)],
)  # fmt: skip
def test_numbers_are_read_in_the_forms_that_people_write(cell, value, error):
    quoted = cell if '"' in cell else f'"{cell}"'
    file = source("a.csv", f"system,Quiz\nOne,{quoted}\n")
    (record,) = read_results([file], columns=ColumnChoices(decimal=".", spread="stderr")).records
    assert (record.value, record.standard_error) == (0.5 if "[" in cell else value, error)
    (record,) = read_results([file], columns=ColumnChoices(decimal=".")).records
    assert record.standard_error is None


def test_a_comma_that_could_be_either_is_asked_about_and_never_guessed():
    text = 'system,Latency\nOne,"1,250"\nTwo,"1,300"\n'
    with pytest.raises(UnclearColumnsError, match=r"line 2: '1,250' may be a decimal number or a large one"):
        read_results([source("a.csv", text)])
    for decimal, value in ((".", 1250.0), (",", 1.25)):
        assert scores([source("a.csv", text)], columns=ColumnChoices(decimal=decimal))["One", "Latency"] == value
    # Another cell says it.
    assert scores([source("a.csv", text + "Three,12.5\n")])["One", "Latency"] == 1250.0
    assert scores([source("a.csv", text + 'Three,"12,5"\n')])["One", "Latency"] == 1.25


EXPORTS = {
    "AlpacaEval": (
        (
            ",win_rate,standard_error,n_wins,n_wins_base,n_draws,n_total,discrete_win_rate,mode,avg_length,"
            "length_controlled_winrate,lc_standard_error\nA,50.1,1.5,400,400,5,805,50.0,community,1900,49.5,0.5\n"
        ),
        {("A", "win_rate"): (50.1, 1.5, 805), ("A", "length_controlled_winrate"): (49.5, 0.5, None)},
    ),
    "Kaggle": (
        (
            "Rank,TeamId,TeamName,LastSubmissionDate,Score,SubmissionCount,TeamMemberUserNames\n"
            "1,12,A,2024-01-01 10:00:00,0.91,3,a;b\n"
        ),
        {("A", "Score"): (0.91, None, None)},
    ),
    "amlb": (
        (
            "id,task,framework,constraint,fold,type,result,metric,mode,version\n"
            "o/1,adult,A,1h8c,0,binary,0.91,auc,local,1\no/1,adult,A,1h8c,1,binary,0.94,auc,local,1\n"
        ),
        {("A", "adult"): (0.925, None, None)},
    ),
    "LMArena": (
        (
            "model_name,organization,license,rating,rating_lower,rating_upper,variance,vote_count,rank,category,"
            "leaderboard_publish_date\nA,Lab,MIT,1287.5,1283.1,1291.9,5.0,32109,1,overall,2026-01-31\n"
        ),
        {("A", "overall"): (1287.5, None, 32109)},
    ),
    "MLflow": (
        (
            "run_id,experiment_id,status,artifact_uri,metrics.acc,params.lr,tags.mlflow.runName\n"
            "abc,1,FINISHED,s3://x,0.9,0.1,A\n"
        ),
        {("A", "metrics.acc"): (0.9, None, None)},
    ),
}


@pytest.mark.parametrize("name", EXPORTS)
def test_tables_that_are_known_whole_need_no_answer(name):
    text, expected = EXPORTS[name]
    records = read_results([source("leaderboard.csv", text)]).records
    assert {(r.system, r.task): (r.value, r.standard_error, r.n) for r in records} == expected


ASKED = {
    "EvalAI": (
        "Rank,Participant Team,Overall,Last submission at\n1,A,61.0,2 days ago\n",
        {"Rank": "ignored", "Participant Team": "system", "Overall": "score", "Last submission at": "ignored"},
    ),
    "Codabench": ("Username,Task 1(12)-Accuracy\nA,0.61\n", {"Username": "system", "Task 1(12)-Accuracy": "score"}),
    "LMArena": (
        "rank,model,arena_score,95% CI,votes,license\n1,A,1287,+4/-4,32109,MIT\n",
        {"rank": "ignored", "model": "system", "arena_score": "score", "95% CI": "ignored", "votes": "ignored",
         "license": "ignored"},
    ),
    "LMArena with intervals": (
        "rank,model,rating,ci_lower,ci_upper,votes\n1,A,1287,1283,1291,32109\n",
        {"rank": "ignored", "model": "system", "rating": "score", "ci_lower": "ignored", "ci_upper": "ignored",
         "votes": "ignored"},
    ),
    "Weights & Biases": (
        '"Name","State","Created","Runtime","acc"\n"A","finished","2024","120","0.9"\n',
        {"Name": "system", "State": "ignored", "Created": "ignored", "Runtime": "ignored", "acc": "score"},
    ),
    "two lines of names": (
        ",Quiz,Quiz\n,mean,std\nModel,,\nA,0.5,0.1\n",
        {"Model": "system", "Quiz mean": "score", "Quiz std": "ignored"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ASKED)
def test_other_exports_are_asked_about_with_a_proposal_that_reads_them(name):
    text, proposed = ASKED[name]
    with pytest.raises(UnclearColumnsError) as caught:
        read_results([source("leaderboard.csv", text)])
    columns = caught.value.table.columns
    assert dict(zip(columns.names, columns.roles, strict=True)) == proposed
    results = read_results([source("leaderboard.csv", text)], columns=ColumnChoices(roles=proposed))
    assert [record.system for record in results.records] == ["A"]


@pytest.mark.parametrize(
    ("roles", "message"),
    [({"x": "score"}, "there is no column 'x'"), ({"b": "scores"}, "'b' cannot be 'scores'"),
     ({"b": "stderr"}, "write the column that it is about behind a colon"), ({"b": "score:a"}, "are about another"),
     ({"b": "ignored"}, "no column has scores"), ({"a": "score"}, "no column names the systems")],
)  # fmt: skip
def test_what_someone_says_of_columns_has_to_fit_them(roles, message):
    with pytest.raises(InputError, match=message):
        read_results([source("t.csv", "a,b\nOne,1\nTwo,2\n")], columns=ColumnChoices(roles={"a": "system", **roles}))


def test_errors_and_counts_of_a_table_in_the_long_form_are_read():
    results = read_results(examples.LONG_TABLE)
    assert {(r.system, *r.column): (r.value, r.standard_error, r.n, r.higher_is_better) for r in results.records} == {
        ("One", "Quiz", "", "", "acc"): (0.61, 0.01, 500, True),
        ("One", "Sums", "", "", "em"): (None, None, None, None),
        ("Two", "Quiz", "", "", "acc"): (0.5, None, 500, True),
    }
    assert [read_results(examples.LONG_TABLE, key).format_key for key in ("csv-long", "csv-wide")] == ["table"] * 2


def test_one_cause_in_many_cells_is_told_once_with_its_first_places():
    rows = "".join(f"s{k},x\n" for k in range(50)) + "".join(f"t{k},1\n" for k in range(50))
    with pytest.raises(InputError) as caught:
        read_results([source("t.csv", f"system,Quiz\n{rows}")])
    assert [str(problem) for problem in caught.value.problems.listed] == [
        *(f"t.csv, line {line}, column 'Quiz': 'x' is not a number" for line in (2, 3, 4)),
        "t.csv, column 'Quiz': 47 more cells are not numbers",
    ]


@pytest.mark.parametrize("text", ["model,Quiz,Quiz\nOne,1,2\n", "task,One,One\nQuiz,1,2\n"])
def test_which_of_two_columns_of_the_same_name_is_meant_is_asked(text):
    name = text.partition("\n")[0].rpartition(",")[2]
    doubt = f"two columns are called '{name}'; the second is {name} \\(2\\) here"
    with pytest.raises(UnclearColumnsError, match=doubt):
        read_results([source("a.csv", text)])
    chosen = ColumnChoices(roles={f"{name} (2)": "ignored"})
    assert scores([source("a.csv", text)], columns=chosen) == {("One", "Quiz"): 1.0}
