"""Files of references and predictions: what is read from each format, and every problem with its line."""

import io
import json
import subprocess
import sys
import tracemalloc

import pyarrow as pa
import pytest
from pyarrow import parquet

from ranking_engine.evaluation import rows
from ranking_engine.evaluation.metrics import METRICS, evaluate
from ranking_engine.evaluation.reading import read_predictions, read_references
from ranking_engine.files.problems import InputError

ACCURACY, RMSE = METRICS["accuracy"], METRICS["rmse"]
CSV = b"id,label,split,weight,cluster,category,note\nq1,cat,dev,2,d1,easy,x\nq2,dog,test,,d1,,y\n3,1,test,1,,hard,z\n"
RECORDS = [
    {"id": "q1", "label": "cat", "split": "dev", "weight": 2, "cluster": "d1", "category": "easy", "note": "x"},
    {"id": "q2", "label": "dog", "split": "test", "weight": None, "cluster": "d1", "category": None, "note": "y"},
    {"id": 3, "label": 1, "split": "test", "weight": 1, "cluster": "", "category": "hard", "note": "z"},
]


def lines_of(records) -> bytes:
    return "".join(json.dumps(record) + "\n" for record in records).encode()


def parquet_of(columns, **options) -> bytes:
    stream = io.BytesIO()
    parquet.write_table(pa.table(columns), stream, **options)
    return stream.getvalue()


PARQUET = parquet_of({key: [None if row[key] is None else str(row[key]) for row in RECORDS] for key in RECORDS[0]})


def problems_of(call, *arguments) -> list[str]:
    with pytest.raises(InputError) as caught:
        call(*arguments)
    return caught.value.problems.lines


@pytest.mark.parametrize("data", [CSV, CSV.replace(b",", b";"), lines_of(RECORDS), PARQUET])
def test_references_are_the_same_from_every_format(data):
    references = read_references(data, "labels", ACCURACY)
    assert (references.ids, references.values) == (("q1", "q2", "3"), ("cat", "dog", "1"))
    assert references.splits == ("dev", "test", "test")
    assert references.weights.tolist() == [2.0, 1.0, 1.0]
    assert references.clusters == ("d1", "d1", "")
    assert references.cluster_codes().tolist() == [0, 0, 1]
    assert references.categories == ("easy", "", "hard")
    assert references.ignored_columns == ("note",)
    assert references.split_names == ("dev", "test")
    assert references.of_splits("test").ids == ("q2", "3")
    with pytest.raises(ValueError, match="no instance has the split 'private'; the splits are dev, test"):
        references.of_splits("private")


def test_predictions_come_in_the_order_of_the_references():
    references = read_references(CSV, "labels", ACCURACY)
    for expected in (references, references.ids):
        predictions = read_predictions(b"prediction,id\n1,3\ncat,q2\ncat,q1\n", "mine.csv", expected, ACCURACY)
        assert (predictions.ids, predictions.values) == (("q1", "q2", "3"), ("cat", "cat", "1"))
    assert predictions.for_ids(["3"]).values == ("1",)


def test_predictions_of_other_instances_are_passed_over_where_these_are_named():
    data = b"id,prediction\na,1\nb,2\n"
    assert read_predictions(data, "mine", ["b"], RMSE, others=["a", "b"]).values == (2.0,)
    assert problems_of(read_predictions, data, "mine", ["b"], RMSE) == [
        "mine, line 2, column 'id': no instance is called 'a'"
    ]


def test_everything_that_is_wrong_with_predictions_is_told_at_once():
    data = b"id,prediction\na,1\nb,x\na,2\nz,1\nc,nan\nd,1,2\n,1\ne,1e400\n"
    assert problems_of(read_predictions, data, "mine.csv", ["a", "b", "c", "d", "e", "f"], RMSE) == [
        "mine.csv: no prediction for 'd'",
        "mine.csv: no prediction for 'f'",
        "mine.csv, line 3, column 'prediction': 'x' is not a finite number",
        "mine.csv, line 4, column 'id': 'a' is already on line 2",
        "mine.csv, line 5, column 'id': no instance is called 'z'",
        "mine.csv, line 6, column 'prediction': 'nan' is not a finite number",
        "mine.csv, line 7: 3 cells for 2 columns",
        "mine.csv, line 8, column 'id': no id",
        "mine.csv, line 9, column 'prediction': '1e400' is not a finite number",
    ]


def test_many_places_with_one_cause_are_one_problem_and_many_missing_ids_are_counted():
    data = b"id,prediction\n" + b"".join(b"x%d,1\n" % k for k in range(5_000)) + b"i99,1\n"
    lines = problems_of(read_predictions, data, "mine.csv", [f"i{k}" for k in range(100)], RMSE)
    assert lines[0] == "mine.csv: no prediction for 'i0'"
    assert lines[19] == "mine.csv: no prediction for 'i19'"
    assert lines[20:] == [
        "mine.csv: no prediction for 79 more of the 100 instances",
        "column 'id': 2,000 ids are unknown; first on lines 2, 3, 4",
        "and 3000 more",
    ]


def test_a_file_of_another_task_is_one_problem_that_names_the_ids_of_both():
    data = b"id,prediction\n" + b"".join(b"digits-%d,1\n" % k for k in range(600)) + b"digits-1,1\n"
    (problem,) = problems_of(read_predictions, data, "mine.csv", [f"tumour-{k}" for k in range(1_200)], RMSE)
    assert problem == (
        "mine.csv: it has none of the 1,200 instances of this task, such as 'tumour-0'; its ids, such as 'digits-0', "
        "are of another task or another split"
    )


def test_lines_of_json_that_cannot_be_read_are_named_and_the_others_are_read():
    data = (
        b'{"id": 1, "prediction": 1}\n{"id": 2\n[1]\n{"id": 3}\n' + b'{"id": 2, "prediction": ' + b"9" * 5_000 + b"}\n"
    )
    assert problems_of(read_predictions, data, "p.jsonl", ["1", "2"], RMSE) == [
        "p.jsonl: no prediction for '2'",
        "p.jsonl, line 2: not valid JSON: Expecting ',' delimiter",
        "p.jsonl, line 3: expected an object with a value for each column",
        "p.jsonl, line 4: no prediction",
        "p.jsonl, line 5: not valid JSON: too deep, or a number is too long",
    ]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "the file is empty"),
        (b"\xff\xfe\x00", "this is not UTF-16"),
        (b"id,x\n1,2\n", "line 2: no column is called 'prediction'; other columns: x"),
        (b"id,prediction,output\n1,2,3\n", "line 1: the columns 'prediction' and 'output' are both the prediction"),
        (b'[{"id": 1}]', "this begins as a JSON list; write one object a line (JSON lines)"),
        (b"id,prediction\n", "no prediction for '1'"),
        (b'id,prediction\n1,"2\n', "line 2: not readable as CSV: unexpected end of data"),
        (b"PAR1 and no more", "not readable as Parquet: "),
        (b",".join([b"c"] * 3_000), "line 1: more than 2,000 columns"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_with_the_cause(data, message):
    assert message in "; ".join(problems_of(read_predictions, data, "mine", ["1"], RMSE))


def test_the_sizes_of_files_are_bounded_before_the_work(monkeypatch):
    monkeypatch.setattr(rows, "MAX_BYTES", 30)
    monkeypatch.setattr(rows, "MAX_ROWS", 2)
    ids = ["1", "2", "3"]
    assert problems_of(read_predictions, b"x" * 31, "mine", ids, RMSE) == [
        "mine: the file has 31 bytes; at most 30 are read"
    ]
    assert problems_of(read_predictions, b"id,prediction\n1,1\n2,1\n3,1\n", "mine", ids, RMSE) == [
        "mine, line 4: more than 2 rows"
    ]


def test_parquet_that_unpacks_to_any_size_is_refused():
    data = parquet_of(
        {"id": ["1", "2"], "prediction": ["aaaa", "aaab"]},
        use_dictionary=False,
        column_encoding={"prediction": "DELTA_BYTE_ARRAY"},
    )
    assert problems_of(read_predictions, data, "mine", ["1", "2"], ACCURACY) == [
        "mine: a column is encoded as DELTA_BYTE_ARRAY, which is not read; write it without"
    ]


@pytest.mark.parametrize("is_list", [False, True])
def test_a_text_that_a_small_parquet_file_has_very_often_is_refused_before_it_is_unpacked(is_list):
    n = 200_000
    texts = pa.DictionaryArray.from_arrays(pa.array([0] * n, pa.int32()), pa.array(["x" * 50_000]))
    cells = pa.ListArray.from_arrays(pa.array(range(n + 1), pa.int32()), texts) if is_list else texts
    data = parquet_of({"id": [str(k) for k in range(n)], "prediction": cells})
    assert len(data) < 2_000_000
    tracemalloc.start()
    lines = problems_of(read_predictions, data, "mine", ["1"], METRICS["answer_f1"])
    assert tracemalloc.get_traced_memory()[1] < 50_000_000
    tracemalloc.stop()
    assert lines == ["mine, line 1: more than 200,000,000 characters in all"]


def varint(number: int) -> bytes:
    """A number as the footer of a Parquet file has it."""
    number *= 2
    groups = []
    while number > 127:
        groups.append(number % 128 + 128)
        number //= 128
    return bytes([*groups, number])


def with_few_stated_bytes(data: bytes, column: int) -> bytes:
    """A file whose footer says that a column has 1,000 bytes unpacked."""
    size = parquet.read_metadata(io.BytesIO(data)).row_group(0).column(column).total_uncompressed_size
    start = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    footer = data[start:-8].replace(varint(size), varint(1_000))
    return data[:start] + footer + len(footer).to_bytes(4, "little") + b"PAR1"


MANY = 3_000
WORST = {
    "the same long bytes": pa.array([b"x" * 10_000] * MANY, pa.binary(10_000)),
    "lists of one length": pa.FixedSizeListArray.from_arrays(pa.array(["x" * 500] * 10 * MANY), 10),
    "bytes": pa.array([b"x" * 5_000] * MANY),
    "dates": pa.array([0] * MANY, pa.date32()),
    "one text": pa.DictionaryArray.from_arrays(pa.array([0] * MANY, pa.int32()), pa.array(["x" * 99_000])),
    "a long row": pa.array([["x" * 1_000] * 2_001] + [[]] * (MANY - 1)),
}


@pytest.mark.parametrize("is_bounded", [False, True])
@pytest.mark.parametrize(
    ("what", "message"),
    [
        ("the same long bytes", "a column has values of the type FIXED_LEN_BYTE_ARRAY, which is not read"),
        ("lists of one length", "has the type fixed_size_list"),
        ("bytes", "the column 'prediction' has the type dictionary<values=binary"),
        ("dates", "the column 'prediction' has the type date32[day]: not read"),
        ("one text", "line 1: more than 200,000,000 characters in all"),
    ],
)
def test_values_of_parquet_that_take_more_than_they_say_are_refused_before_they_are_unpacked(what, message, is_bounded):
    data = parquet_of({"id": [str(k) for k in range(MANY)], "prediction": WORST[what]})
    assert len(data) < 200_000
    with pytest.raises(InputError) as caught:
        read_predictions(data, "mine", ["1"], METRICS["answer_f1"], is_bounded=is_bounded)
    assert message in "; ".join(caught.value.problems.lines)


def test_a_row_of_parquet_is_no_longer_than_one_of_json():
    data = parquet_of({"id": [str(k) for k in range(MANY)], "prediction": WORST["a long row"]})
    lines = problems_of(read_predictions, data, "mine", ["1"], METRICS["mrr"])
    assert lines[-1] == "mine, line 1: 2,009,011 characters; at most 2,000,000 are read in a row"


READ_AND_SAY_THE_PEAK = """
import sys
from ranking_engine.evaluation.metrics import METRICS, evaluate
from ranking_engine.evaluation.reading import read_predictions
from ranking_engine.files.problems import InputError
data = open(sys.argv[1], "rb").read()
try:
    read_predictions(data, "mine", ["1"], METRICS["accuracy"])
except InputError as error:
    lines = open("/proc/self/status").read().splitlines()
    print(next(line.split()[1] for line in lines if line.startswith("VmHWM")), *error.problems.lines)
"""


def test_a_parquet_file_whose_footer_lies_takes_no_memory_of_the_process_that_asks(tmp_path):
    columns = {"id": [str(k) for k in range(700)], "prediction": [f"{k:03}" + "x" * 300_000 for k in range(700)]}
    data = parquet_of(columns, compression="zstd", use_dictionary=False, write_statistics=False)
    lying = with_few_stated_bytes(data, column=1)
    n_bytes = parquet.read_metadata(io.BytesIO(lying)).row_group(0).column(1).total_uncompressed_size
    assert (n_bytes, len(lying) < 100_000) == (1_000, True)
    path = tmp_path / "lying.parquet"
    path.write_bytes(lying)
    command = [sys.executable, "-c", READ_AND_SAY_THE_PEAK, str(path)]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    peak, _, message = ran.stdout.partition(" ")
    assert message == "mine, line 1: more than 200,000,000 characters in all\n"
    assert int(peak) < 150_000  # kB


def test_lists_and_objects_of_parquet_are_read():
    labels = parquet_of({"id": ["a", "b"], "label": ["cat", "dog"]})
    references = read_references(labels, "labels", METRICS["brier"])
    chances = parquet_of({"id": ["a", "b"], "prediction": [{"cat": 0.5, "dog": 0.5}, {"cat": 1.0, "dog": None}]})
    predictions = read_predictions(chances, "mine", references, METRICS["brier"])
    assert predictions.values == ({"cat": 0.5, "dog": 0.5}, {"cat": 1.0})
    documents = parquet_of({"id": ["a", "b"], "prediction": [["d2", "d1"], []]})
    assert read_predictions(documents, "mine", ["a", "b"], METRICS["mrr"]).values == (("d2", "d1"), ())


def test_a_reference_without_a_split_among_others_with_one_is_a_problem():
    data = b"id,label,split\n1,a,dev\n2,b,\n"
    assert problems_of(read_references, data, "labels", ACCURACY) == [
        "labels, line 3, column 'split': no split, while other rows have one"
    ]


@pytest.mark.parametrize("weight", ["0", "-1", "1e10", "x"])
def test_weights_are_above_0_and_bounded(weight):
    lines = problems_of(read_references, f"id,label,weight\n1,a,{weight}\n".encode(), "labels", ACCURACY)
    assert lines[0].startswith("labels, line 2, column 'weight': ")


@pytest.mark.parametrize(
    ("written", "label"),
    [
        ("1.0", "1"), ("-2.00", "-2"), ("0.0", "0"), ("-0", "0"), ("1", "1"), ("True", "true"), ("FALSE", "false"),
        ("true", "true"), ("01", "01"), ("01.0", "01.0"), ("1.50", "1.50"), ("1.", "1."), ("1e3", "1e3"), ("+1", "+1"),
        ("Truth", "Truth"), ("1" * 16 + ".0", "1" * 16 + ".0"), ("\u0661.0", "\u0661.0"),
    ],
)  # fmt: skip
def test_labels_of_a_table_are_those_of_json(written, label):
    data = f"id,prediction\na,{written}\n".encode()
    assert read_predictions(data, "mine.csv", ["a"], ACCURACY).values == (label,)
    text = json.dumps({"id": "a", "prediction": written}).encode()
    assert read_predictions(text, "mine.jsonl", ["a"], ACCURACY).values == (label,)


def test_ids_tags_and_documents_of_a_table_stay_as_they_are_written():
    assert read_predictions(b"id,prediction\n1.0,x\n1,y\n", "mine.csv", ["1.0", "1"], ACCURACY).values == ("x", "y")
    for key, values in (("span_f1", ("True", "1.0")), ("ndcg", ("1.0", "TRUE"))):
        data = f"id,prediction\na,{' '.join(values)}\n".encode()
        assert read_predictions(data, "mine.csv", ["a"], METRICS[key]).values == (values,)


def test_predictions_that_pandas_wrote_are_right_where_references_are_json():
    references = read_references(b"id,reference\na,True\nb,False\n", "labels.csv", METRICS["f1"])
    predictions = read_predictions(
        b'{"id": "a", "prediction": true}\n{"id": "b", "prediction": false}\n', "mine.jsonl", references, METRICS["f1"]
    )
    assert evaluate(METRICS["f1"], references, predictions, {"positive": "TRUE"}).value == 1
    chances = read_predictions(
        b"id,probability:1.0,probability:0.0\na,0.9,0.1\n", "mine.csv", ["a"], METRICS["log_loss"]
    )
    assert chances.values == ({"1": 0.9, "0": 0.1},)


def test_a_label_or_document_that_an_object_has_twice_is_refused():
    chances = b"id,probability:1,probability:1.0,probability:0\na,0.2,0.2,0.8\n"
    assert problems_of(read_predictions, chances, "mine.csv", ["a"], METRICS["log_loss"]) == [
        "mine.csv, line 2, column 'prediction': the label '1' is there twice: '1.0' is the same label"
    ]
    grades = b'{"id": "a", "reference": {"d": 1, " d": 2}}\n'
    assert problems_of(read_references, grades, "grades", METRICS["ndcg"]) == [
        "grades, line 1, column 'reference': the document 'd' is there twice"
    ]
