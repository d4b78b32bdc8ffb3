"""A small, sound file set of every format, made up in the shapes that the programs write."""

import gzip
import io
import json
import zipfile
from pathlib import Path

from ranking_engine.importers import SourceFile


def as_json(name: str, document: object) -> SourceFile:
    return SourceFile(name, json.dumps(document).encode())


LM_EVAL = {
    "results": {
        "quiz": {"alias": "quiz", "acc,none": 0.61, "acc_stderr,none": 0.01, "sample_len": 500, " ": " "},
        "sums": {"exact_match,strict": 0.25, "exact_match_stderr,strict": "N/A", "exact_match,flexible": 0.5},
        "all": {"acc,none": 0.4, "acc_stderr,none": 0.02, "alias": "all"},
    },
    "group_subtasks": {"all": ["quiz", "sums"], "quiz": []},
    "higher_is_better": {"quiz": {"acc": True}, "sums": {"exact_match": True}, "all": {"acc": None}},
    "n-samples": {"quiz": {"original": 500, "effective": 500}, "sums": {"original": 100, "effective": 20}},
    "model_name": "lab/one",
    "config": {"model_sha": "abc", "limit": None, "model_num_parameters": 6738415616},
    "max_length": 4096,
}
LIGHTEVAL = {
    "config_general": {"model_name": "lab/one", "model_sha": "abc", "max_samples": None},
    "results": {
        "sums|5": {"em": 0.4, "em_stderr": 0.02},
        "quiz:law|0": {"acc": 0.5, "acc_stderr": 0.1},
        "quiz:_average|0": {"acc": 0.5},
        "all": {"em": 0.45},
    },
    "config_tasks": {
        "lighteval|sums": {
            "metric": [{"metric_name": "em", "higher_is_better": True}],
            "effective_num_docs": 20,
            "original_num_docs": 100,
        },
        "quiz:law": {"metric": [{"metric_name": ["acc"], "higher_is_better": {"acc": True}}], "effective_num_docs": -1},
    },
}
HELM_STATS = [
    {"name": {"name": "exact_match", "split": "test"}, "count": 100, "sum": 61.0, "mean": 0.61, "stddev": 0.5},
    {"name": {"name": "exact_match", "split": "valid"}, "count": 100, "mean": 0.9, "stddev": 0.5},
    {"name": {"name": "exact_match", "split": "test", "perturbation": {"name": "typos"}}, "count": 100, "mean": 0.1},
    {"name": {"name": "num_instances"}, "count": 1, "mean": 100},
    {"name": {"name": "runtime", "split": "test"}, "count": 1, "mean": 2.5, "stddev": 0},
]
HELM_SPEC = {
    "name": "quiz:subject=law,model=lab_one",
    "adapter_spec": {"model": "lab/one"},
    "groups": ["quiz", "knowledge"],
}
HELM_TABLE = {
    "title": "Accuracy",
    "header": [
        {"value": "Model"},
        {"value": "Mean win rate", "lower_is_better": False},
        {"value": "Quiz - EM", "lower_is_better": False},
        {"value": "Web - BPB", "lower_is_better": True},
    ],
    "rows": [
        [{"value": "One"}, {"value": 0.9}, {"value": 0.6}, {"value": 1.2}],
        [{"value": "Two"}, {"value": 0.1}, {"value": 0.5}, {"value": None}],
    ],
}
HELM_MODELS = """models:
- name: lab/one
  display_name: One
  creator_organization_name: The Lab
  access: open
  num_parameters: 7000000000
  release_date: 2024-05-31
- name: lab/other
  access: closed
"""
MTEB = {
    "task_name": "Pairs",
    "dataset_revision": "r1",
    "mteb_version": "2.0",
    "scores": {
        "test": [
            {"hf_subset": "default", "languages": ["eng-Latn"], "main_score": 0.7, "accuracy": 0.7},
            {"hf_subset": "de", "languages": ["deu-Latn"], "main_score": 0.6, "scores_per_experiment": [{"f1": 1}]},
        ]
    },
}
MTEB_META = {
    "name": "lab/one",
    "revision": "abc",
    "n_parameters": 7000000000,
    "release_date": "2024-05-31",
    "open_weights": True,
    "license": "mit",
    "max_tokens": None,
}
BIGBENCH = {
    "model": {"model_name": "One", "model_family": "F"},
    "task": {"task_name": "riddles"},
    "scores": [
        {
            "subtask_description": "riddles:easy",
            "score_dict": {"grade": 0.4, "other": 3},
            "preferred_score": "grade",
            "number_of_shots": 2,
            "low_score": 0,
            "high_score": 1,
        },
        {
            "subtask_description": "mean over riddles",
            "score_dict": {"grade": 0.9},
            "preferred_score": "grade",
            "number_of_shots": 2,
        },
    ],
}
MODEL_CARD = """---
language: en
license: other
license_name: community-1
base_model: lab/zero
model-index:
- name: one
  results:
  - task: {type: x}
    dataset: {type: ds, name: DS, config: default, split: test}
    metrics:
    - {type: accuracy, value: 0.91}
    - {type: f1, value: "20.0 ± 1.2"}
---
# A model
"""
EVAL_RESULTS = """- dataset: {id: lab/quiz, task_id: law, revision: r1}
  value: 20.9
  date: 2026-01-15
  source: {url: https://lab.example/run, name: A run}
- dataset: {id: lab/quiz, task_id: law}
  value: 22
  notes: with tools
"""
VOTES = """model_a,model_b,winner,category
One,Two,model_a,quiz
Two,One,model_a,quiz
One,Two,model_a,quiz
One,Two,tie,sums
"""
OPENCOMPASS = """dataset,version,metric,mode,One,Two "chat"
--------- Knowledge ---------,-,-,-,-,-
quiz,abc123,accuracy,gen,61.00,-
sums,def456,score,ppl,25.50,30.25
all,-,naive_average,gen,43.25,30.25
"""
LONG = """system,task,metric,score,stderr,n,higher_is_better
One,Quiz,acc,0.61,0.01,500,true
One,Sums,em,,,,
Two,Quiz,acc,0.5,N/A,500,true
"""
WIDE = """system,Quiz,Quiz_stderr,Quiz_n,Sums
One,0.61,0.01,500,
Two,0.5,,500,0.25
"""
FOLDER_TABLE = """system,Quiz,Errors
One,0.61,3
Two,0.5,5
"""
FOLDER_ABOUT = """title = "A benchmark"
[[task]]
name = "Quiz"
[[task]]
name = "Errors"
direction = "lower"
"""

INSPECT = {
    "version": 2,
    "status": "success",
    "eval": {"task": "quiz", "model": "lab/one", "dataset": {"samples": 500}, "config": {"limit": None}},
    "results": {
        "total_samples": 500,
        "completed_samples": 500,
        "scores": [
            {
                "name": "match",
                "scorer": "match",
                "scored_samples": 500,
                "metrics": {
                    "accuracy": {"name": "accuracy", "value": 0.61},
                    "stderr": {"name": "stderr", "value": 0.01},
                },
            }
        ],
    },
}
EVERY_EVAL = {
    "schema_version": "0.3.0",
    "evaluation_id": "quiz/lab_one/1780000000",
    "retrieved_timestamp": "1780000000",
    "source_metadata": {
        "source_type": "evaluation_run",
        "source_organization_name": "Lab",
        "evaluator_relationship": "first_party",
    },
    "eval_library": {"name": "lm_eval", "version": "0.4.13"},
    "model_info": {"name": "One", "id": "lab/one"},
    "evaluation_results": [
        {
            "evaluation_name": "quiz",
            "source_data": {"dataset_name": "quiz", "source_type": "other"},
            "metric_config": {"metric_name": "acc", "lower_is_better": False},
            "score_details": {
                "score": 0.61,
                "uncertainty": {"standard_error": {"value": 0.01, "method": "analytic"}, "num_samples": 500},
            },
        }
    ],
}
SWE_BENCH = {"total_instances": 500, "submitted_instances": 500, "resolved_instances": 305, "schema_version": 2}

EXAMPLES = {
    "inspect-ai": [as_json("log.json", INSPECT)],
    "every-eval-ever": [as_json("quiz.json", EVERY_EVAL)],
    "swe-bench": [as_json("lab__one.run-1.json", SWE_BENCH)],
    "lm-eval": [as_json("results_2026.json", LM_EVAL)],
    "lighteval": [as_json("results_2026.json", LIGHTEVAL)],
    "helm-run": [
        as_json("stats.json", HELM_STATS),
        as_json("run_spec.json", HELM_SPEC),
        SourceFile("model_metadata.yaml", HELM_MODELS.encode()),
    ],
    "helm-table": [as_json("core.json", [HELM_TABLE])],
    "mteb": [as_json("Pairs.json", MTEB), as_json("model_meta.json", MTEB_META)],
    "bigbench": [as_json("scores_one.json", BIGBENCH)],
    "model-index": [SourceFile("README.md", MODEL_CARD.encode())],
    "eval-results": [SourceFile("quiz.yaml", EVAL_RESULTS.encode())],
    "opencompass": [SourceFile("summary.csv", OPENCOMPASS.encode())],
    "votes": [SourceFile("battles.csv", VOTES.encode())],
    "table": [SourceFile("wide.csv", WIDE.encode())],
    "folder": [SourceFile("scores.csv", FOLDER_TABLE.encode()), SourceFile("benchmark.toml", FOLDER_ABOUT.encode())],
}
LONG_TABLE = [SourceFile("long.csv", LONG.encode())]
# The same scores, in whatever tables are written in.
_TABLES = {
    "commas": ("a.csv", "system,Quiz,Sums\nOne,0.5,\nTwo,0.25,3\n"),
    "missing words": ("a.csv", "system,Quiz,Sums\nOne,0.5,#N/A\nTwo,0.25,3\n"),
    "an index": ("a.csv", ",Quiz,Sums\nOne,0.5,NaN\nTwo,0.25,3.0\n"),
    "a forgotten index": ("a.csv", ",model,Quiz,Sums\n0,One,0.5,\n1,Two,0.25,3.0\n"),
    "Windows-1252": ("a.csv", "Model,Quiz,Sums\nOne,0.5,–\nTwo,0.25,3\n".encode("cp1252")),
    "UTF-16": ("a.txt", "Model\tQuiz\tSums\nOne\t0,5\t\nTwo\t0,25\t3\n".encode("utf-16")),
    "gzip": ("a.csv.gz", gzip.compress(b"system,Quiz,Sums\nOne,0.5,\nTwo,0.25,3\n")),
    "melted": ("a.csv", "Model,variable,value\nOne,Quiz,0.5\nOne,Sums,\nTwo,Quiz,0.25\nTwo,Sums,3\n"),
    "tasks in rows": ("a.csv", "task,One,Two\nQuiz,0.5,0.25\nSums,,3\n"),
    "records": ("a.json", '[{"model": "One", "Quiz": 0.5, "Sums": null}, {"model": "Two", "Quiz": 0.25, "Sums": 3}]'),
    "lines": ("a.jsonl", '{"model": "One", "Quiz": 0.5, "Sums": NaN}\n{"model": "Two", "Quiz": 0.25, "Sums": 3}\n'),
    "lines of any name": ("a", '{"model": "One", "Quiz": 0.5}\n{"model": "Two", "Quiz": 0.25, "Sums": 3}\n'),
    "Markdown": ("a.md", "# T\n\n|Model|Quiz|Sums|\n|---|--:|:-:|\n|**One**|0.5|-|\n|[Two](x)|0.25|3|\n"),
    "HTML": (
        "a.html",
        ("<table><tr><th>Model<th>Quiz<th>Sums</tr><tr><td>One</td><td>0.5</td><td></td></tr>"
        "<tr><td>Two</td><td>0.25</td><td>3</td></tr></table>"),
    ),
    "LaTeX": (
        "a.tex",
        ("\\begin{tabular}{lrr}\n\\toprule\nModel & Quiz & Sums \\\\\n\\midrule\nOne & \\textbf{0.5} & -- \\\\\n"
        "Two & 0.25 & 3 \\\\\n\\bottomrule\n\\end{tabular}\n"),
    ),
}  # fmt: skip
TABLES = {
    name: SourceFile(file, data if isinstance(data, bytes) else data.encode()) for name, (file, data) in _TABLES.items()
}


def archive(files, method=zipfile.ZIP_DEFLATED):
    """A zip archive of files by path."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", method) as opened:
        for path, content in files.items():
            opened.writestr(path, content)
    return data.getvalue()


# Files that programs wrote, with their versions in their names; and a folder as a person drops it.
FILES = {
    file.name: SourceFile(file.name, file.read_bytes()) for file in sorted((Path(__file__).parent / "files").iterdir())
}
_FOLDER = {file.name: file.data for file in EXAMPLES["mteb"]} | {"run_settings.jsonl": b'{"a": 1}\n{"a": 2}\n'}
FILES["folder.zip"] = SourceFile("folder.zip", archive(_FOLDER))
