"""scikit-learn's estimators that need no factorisation, and its tools around them. Tolerance: 2e-5 (same.TOL)."""

from __future__ import annotations

import numpy as np
import pytest
from data import BINARY, CLASSES, HOLES, WEIGHTS, X, Y
from same import same
from sklearn import preprocessing
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score, train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.utils import check_array, resample, shuffle
from sklearn.utils.multiclass import type_of_target, unique_labels

P = preprocessing
# estimator, what is asked of it after fit
TRANSFORMERS = {
    "Binarizer": (P.Binarizer(threshold=0.3), []),
    "FunctionTransformer": (P.FunctionTransformer(lambda a: abs(a)), []),
    "MaxAbsScaler": (P.MaxAbsScaler(), ["max_abs_"]),
    "MinMaxScaler": (P.MinMaxScaler(), ["data_min_", "data_max_", "scale_", "min_"]),
    "MinMaxScaler-clip": (P.MinMaxScaler(clip=True, feature_range=(-1, 2)), ["scale_"]),
    "Normalizer-l1": (P.Normalizer(norm="l1"), []),
    "Normalizer-l2": (P.Normalizer(norm="l2"), []),
    "Normalizer-max": (P.Normalizer(norm="max"), []),
    "PolynomialFeatures": (P.PolynomialFeatures(degree=3), []),
    "PolynomialFeatures-mixed": (P.PolynomialFeatures(2, interaction_only=True, include_bias=False), []),
    "StandardScaler": (P.StandardScaler(), ["mean_", "var_", "scale_"]),
}


@pytest.mark.parametrize("name", TRANSFORMERS)
def test_transformers(name: str) -> None:
    estimator, attributes = TRANSFORMERS[name]

    def work(train, new):
        fitted = clone(estimator).fit(train)
        got = [fitted.transform(new), *[getattr(fitted, a) for a in attributes]]
        if name.endswith("Scaler"):
            got.append(fitted.inverse_transform(got[0]))
        return got

    same(work, X, Y)
    if name.startswith(("Min", "Max", "Standard")):
        same(work, HOLES, Y)  # NaN is left out


def test_standard_scaler_with_weights_and_in_parts() -> None:
    def weighted(a, w):
        fitted = P.StandardScaler().fit(a, sample_weight=w)
        return [fitted.mean_, fitted.var_, fitted.transform(a)]

    def parts(a):
        fitted = P.StandardScaler().partial_fit(a[:15]).partial_fit(a[15:])
        return [fitted.mean_, fitted.var_]

    same(weighted, X, WEIGHTS)
    same(parts, X)


def test_kernel_centerer() -> None:
    same(lambda a, b: P.KernelCenterer().fit(a).transform(b), X @ X.T, Y @ X.T, tol=1e-4)


def test_functions_of_preprocessing() -> None:
    for name in ("binarize", "maxabs_scale", "minmax_scale", "normalize"):
        same(getattr(P, name), X)


@pytest.mark.parametrize("labels", [CLASSES, BINARY], ids=["classes", "binary"])
def test_labels(labels) -> None:
    def encode(y):
        encoder = P.LabelEncoder()
        codes = encoder.fit_transform(y + 5)
        return [codes, encoder.classes_, encoder.inverse_transform(codes)]

    def binarize(y):
        binarizer = P.LabelBinarizer()
        table = binarizer.fit_transform(y)
        return [table, binarizer.classes_, binarizer.inverse_transform(table)]

    same(encode, labels)
    same(binarize, labels)
    same(P.label_binarize, labels, classes=np.arange(3, dtype=np.int32))


def test_targets() -> None:
    for y in (CLASSES, BINARY, X[:, 0], X):
        same(type_of_target, y)
    same(unique_labels, CLASSES, BINARY + 5)
    same(check_array, X)
    with pytest.raises(ValueError, match="NaN"):
        same(check_array, HOLES)


def test_naive_bayes() -> None:
    def work(a, y, new):
        fitted = GaussianNB().fit(a, y)
        return [
            fitted.predict(new),
            fitted.predict_proba(new),
            fitted.theta_,
            fitted.var_,
            fitted.class_prior_,
        ]

    def parts(a, y, classes):
        fitted = GaussianNB().partial_fit(a[:20], y[:20], classes=classes).partial_fit(a[20:], y[20:])
        return fitted.predict_proba(a)

    same(work, X, CLASSES, Y, tol=1e-4)
    same(parts, X, CLASSES, np.arange(3, dtype=np.int32), tol=1e-4)


def test_splits() -> None:
    same(lambda a, y: train_test_split(a, y, test_size=0.3, random_state=0), X, CLASSES)
    same(lambda a, y: train_test_split(a, y, random_state=0, stratify=y), X, CLASSES)
    same(lambda a, y: shuffle(a, y, random_state=0), X, CLASSES)
    same(lambda a: resample(a, random_state=0), X)


def test_selection() -> None:
    same(lambda a, y: cross_val_predict(GaussianNB(), a, y, cv=3), X, CLASSES)
    same(lambda a, y: cross_val_score(GaussianNB(), a, y, cv=3), X, CLASSES, on_host=True)

    def search(a, y):
        found = GridSearchCV(GaussianNB(), {"var_smoothing": [1e-3, 1e-1]}, cv=3).fit(a, y)
        return [found.predict(a), found.best_score_]

    same(search, X, CLASSES)


def test_pipelines() -> None:
    same(
        lambda a, y: make_pipeline(P.StandardScaler(), P.MinMaxScaler(), GaussianNB()).fit(a, y).predict(a),
        X,
        CLASSES,
    )
    both = FeatureUnion([("a", P.StandardScaler()), ("b", P.MaxAbsScaler())])
    same(lambda a: clone(both).fit_transform(a), X)


def test_calibration() -> None:
    def work(a, y):
        return CalibratedClassifierCV(GaussianNB(), method="temperature", cv=3).fit(a, y).predict_proba(a)

    same(work, X, CLASSES, tol=1e-3)  # a minimum, found to 1e-4 or so
