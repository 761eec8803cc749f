"""The digits that scikit-learn ships, split once and for all."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

Array = NDArray[Any]


class Data(NamedTuple):
    """Images from 0 to 1 and their labels; a fifth is held out, the same share of each digit."""

    train_images: Array
    test_images: Array
    train_labels: Array
    test_labels: Array


def load() -> Data:
    """Return f32[n, 64] images and i32[n] labels."""
    images, labels = load_digits(return_X_y=True)
    split = train_test_split(
        (images / 16.0).astype(np.float32),
        labels.astype(np.int32),
        test_size=0.2,
        stratify=labels,
        random_state=0,
    )
    return Data(*split)
