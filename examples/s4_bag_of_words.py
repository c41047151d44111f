r"""Texts as bags of words are (nearly) linearly separable, and not because there are many words.

Lecture S4: "there are many interesting applications where the data can be represented in a way that makes the classes
(nearly) linearly separable: e.g. text classification using 'bag of words' representations". A text becomes counts of
words, and a machine weighs them,

$$y = \operatorname{sign}\left(w_0 + \sum_{\text{words}} w_{\text{word}} \cdot \text{count}_{\text{word}}\right).$$

The texts are the documentation of SciPy: is it about statistics or about signals? With more words than texts any labels
can be separated, so only the most frequent words are taken, few in comparison with the texts, and the same texts with
shuffled labels are the control. The figure shows the share of rows that the best plane met gets wrong.
"""

from __future__ import annotations

import inspect
import warnings

import numpy as np
import scipy.signal
import scipy.stats
from matplotlib.figure import Figure
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import CountVectorizer

from adaline import LogisticRegression, Pocket
from drawing import BLUE, GREY, finish, panels, show

WORDS = (5, 10, 20, 40, 80)


def texts() -> tuple[list[str], np.ndarray]:
    """What the functions of the two packages say about themselves, without their names and examples."""
    out, labels = [], []
    for label, package in enumerate((scipy.stats, scipy.signal)):
        for name in package.__all__:
            about = inspect.getdoc(getattr(package, name)) if inspect.isfunction(getattr(package, name)) else None
            if about:
                out.append(about.partition("Examples\n")[0].replace(name, " "))
                labels.append(label)
    return out, np.array(labels)


def main() -> Figure:
    rng = np.random.default_rng(13)
    rows, y = texts()
    shuffled = rng.permutation(y)
    wrong: dict[str, list[float]] = {"true labels": [], "shuffled labels": []}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for words in WORDS:
            X = CountVectorizer(max_features=words, stop_words="english").fit_transform(rows).toarray()
            for name, labels in zip(wrong, (y, shuffled), strict=True):
                wrong[name].append(100 * (1 - Pocket(epochs=300).fit(X, labels).score(X, labels)))
    order = rng.permutation(len(y))
    train, new = order[::2], order[1::2]
    found = LogisticRegression(penalty=1.0).fit(X[train], y[train]).score(X[new], y[new])
    guess = max(np.mean(y), 1 - np.mean(y))

    assert len(rows) > 3 * (WORDS[-1] + 1), "far more texts than words: random labels are not separable"
    assert wrong["true labels"][-1] < 3, "a plane gets nearly all texts right"
    assert wrong["shuffled labels"][-1] > 10, "which is not for the number of words: labels at random it cannot"
    assert found > guess + 0.25, "and it is about the texts: new ones are classified as well"

    figure, (ax,) = panels(1, width=6.4, height=4.4)
    ax.plot(WORDS, wrong["shuffled labels"], "s--", color=GREY, label="shuffled labels")
    ax.plot(WORDS, wrong["true labels"], "o-", color=BLUE, label="true labels")
    ax.set_ylim(0)
    title = f"{len(rows)} texts, 80 words: a plane tells nearly all apart ({100 * found:.0f} % of new ones)"
    finish(ax, title, "words counted", "texts on the wrong side (%)")
    return figure


if __name__ == "__main__":
    show(main, __doc__, __file__)
