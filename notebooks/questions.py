"""What the notebooks of the ten questions share: the module stepsim and the words of an answer."""
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "python"))

import stepsim  # noqa: E402, F401  (the module of this repository)

(ROOT / "results").mkdir(exist_ok=True)


def percent(share, digits=3):
    """0.9731 -> "97.3 %"."""
    return f"{float(f'{100 * share:.{digits}g}'):g} %"


def span(values, text=None, digits=3):
    """The range of some values: "72 to 90", or one of them where rounding leaves no range."""
    text = text or (lambda value: f"{float(f'{value:.{digits}g}'):g}")
    low, high = text(min(values)), text(max(values))
    if low == high:
        return low
    number, _, unit = low.partition(" ")
    return f"{number} to {high}" if high.endswith(unit) else f"{low} to {high}"


def gigabits(bytes_per_second):
    """1.25e9 -> "10 Gb/s"."""
    return f"{float(f'{8e-9 * bytes_per_second:.3g}'):g} Gb/s"
