"""Trains eight models on three data sets of scikit-learn and writes what they predict.

    OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 python -m leaderboard.evaluation.demonstration.train

The site needs the files alone, which are in the repository: `references/TASK.csv` and `predictions/MODEL/TASK.csv`.
Instances are numbered as in the data set; a third of them is hidden, half of these public and half private.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn import datasets
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from ranking_engine.files.csv_rows import csv_text

FOLDER = Path(__file__).resolve().parent
SEED = 0
TASKS: dict[str, Callable[[], Any]] = {
    "digits": datasets.load_digits,
    "breast-cancer": datasets.load_breast_cancer,
    "diabetes": datasets.load_diabetes,
}
# Of each model, the one for labels and the one for numbers.
MODELS: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
    "constant": (DummyClassifier, DummyRegressor),
    "linear": (lambda: LogisticRegression(max_iter=2_000), Ridge),
    "nearest-neighbours": (KNeighborsClassifier, KNeighborsRegressor),
    "decision-tree": (
        lambda: DecisionTreeClassifier(random_state=SEED),
        lambda: DecisionTreeRegressor(max_depth=4, random_state=SEED),
    ),
    "random-forest": (
        lambda: RandomForestClassifier(200, random_state=SEED),
        lambda: RandomForestRegressor(200, min_samples_leaf=5, random_state=SEED),
    ),
    "gradient-boosting": (
        lambda: HistGradientBoostingClassifier(max_iter=50, random_state=SEED),
        lambda: HistGradientBoostingRegressor(max_iter=50, learning_rate=0.05, random_state=SEED),
    ),
    "support-vectors": (lambda: SVC(C=5), lambda: SVR(C=50)),
    "neural-network": (
        lambda: MLPClassifier(max_iter=500, random_state=SEED),
        lambda: MLPRegressor(hidden_layer_sizes=(20,), alpha=1, solver="lbfgs", max_iter=200, random_state=SEED),
    ),
}


def hidden_part(task: str) -> tuple[Any, Any, Any, Any, list[str], list[str]]:
    """Return the known rows, the hidden rows, the known answers, the hidden ones, the ids and the splits of these."""
    data = TASKS[task]()
    is_numeric = task == "diabetes"
    answers = data.target if is_numeric else np.array([str(data.target_names[k]) for k in data.target])
    numbers = np.arange(len(answers))
    stratify = None if is_numeric else answers
    known, hidden = train_test_split(numbers, test_size=1 / 3, random_state=SEED, stratify=stratify)
    hidden = np.sort(hidden)
    is_public = np.random.default_rng(SEED).permutation(len(hidden)) < len(hidden) / 2
    ids = [f"{task}-{number:04d}" for number in hidden]
    splits = ["public" if public else "private" for public in is_public]
    return data.data[known], data.data[hidden], answers[known], answers[hidden], ids, splits


def predicted(task: str, model: str) -> list[str]:
    """Return what a model predicts for the hidden rows, as cells."""
    known, hidden, answers, *_ = hidden_part(task)
    estimator = MODELS[model][task == "diabetes"]()
    values = make_pipeline(StandardScaler(), estimator).fit(known, answers).predict(hidden)
    return [f"{value:.1f}" for value in values] if task == "diabetes" else [str(value) for value in values]


def _write_all() -> None:
    """Write the references of every task and the predictions of every model."""
    for task in TASKS:
        *_, answers, ids, splits = hidden_part(task)
        cells = [f"{value:g}" if task == "diabetes" else str(value) for value in answers]
        path = FOLDER / "references" / f"{task}.csv"
        path.parent.mkdir(exist_ok=True)
        rows = zip(ids, cells, splits, strict=True)
        path.write_text(csv_text([["id", "reference", "split"], *rows]), encoding="utf-8")
        for model in MODELS:
            path = FOLDER / "predictions" / model / f"{task}.csv"
            path.parent.mkdir(parents=True, exist_ok=True)
            pairs = zip(ids, predicted(task, model), strict=True)
            path.write_text(csv_text([["id", "prediction"], *pairs]), encoding="utf-8")


if __name__ == "__main__":
    _write_all()
