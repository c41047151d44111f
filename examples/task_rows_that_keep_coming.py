"""Can a model learn as rows come in, without keeping the old ones?

Each day a file with new abalones. `partial_fit` takes it into the sums of the model, and the file may be deleted;
`forget` takes a day back out that turned out to be wrong. The result is that of one fit to all rows that count.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from adaline import LinearRegression, datasets, open_table
from adaline.sources import Source
from drawing import BLUE, GREY, finish, panels, show

DAYS = 10


def write_days(folder: Path) -> list[Path]:
    """Write the files of the question: the bundled table, cut into days."""
    head, *rows = datasets.path("abalone").read_text(encoding="utf-8").splitlines()
    files = [folder / f"day_{day:02d}.csv" for day in range(1, DAYS + 1)]
    for i, file in enumerate(files):
        file.write_text("\n".join([head, *rows[i::DAYS]]), encoding="utf-8")
    return files


def open_day(file: Path | str) -> Source:
    return open_table(file, formula="rings ~ length + diameter + height + whole_weight + shucked_weight + shell_weight")


def main() -> Figure:
    model, seen, errors = LinearRegression(), [], []
    with tempfile.TemporaryDirectory() as folder:
        files = write_days(Path(folder))
        for file in files:
            rings = np.loadtxt(file, delimiter=",", skiprows=1, usecols=8)
            if seen:  # predict the new day first, then learn from it
                guesses = model.predict(open_day(file)), np.mean(seen)
                errors.append([np.abs(guess - rings).mean() for guess in guesses])
            model.partial_fit(open_day(file))
            seen.extend(rings)
        print("after all days:            ", model.certificate_)
        once = LinearRegression().fit(open_day(f"{folder}/*.csv"))
        assert np.allclose(model.coef_, once.coef_, rtol=1e-9), "the same as all files at once"
        model.forget(open_day(files[4]))
    print("after day 5 was taken back:", model.certificate_)
    ours, mean = np.mean(errors, axis=0)
    assert ours < 0.8 * mean, "it has learned something"
    print(
        f"\nAnswer: yes; it ends where one fit to all files does, and is off by {ours:.1f} rings on a day not seen "
        f"before, the mean by {mean:.1f}."
    )

    figure, (ax,) = panels(width=6.4)
    for values, name, colour in zip(
        np.transpose(errors), ("the model so far", "the mean so far"), (BLUE, GREY), strict=True
    ):
        ax.plot(range(2, DAYS + 1), values, "o-", color=colour, label=name)
    ax.set_ylim(0, 1.15 * np.max(errors))
    finish(ax, "Each day is predicted before it is learned", "day", "mean error, rings")
    return figure


if __name__ == "__main__":
    show(main, __doc__, __file__)
