"""The report as one HTML file that needs nothing else: no network, no script, no other file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from surpass.analysis import read
from surpass.trial import Experiment
from surpass.trial.experiment import write_atomically
from surpass.web._format import FILTERS
from surpass.web._page import page

if TYPE_CHECKING:
    import jinja2

__all__ = ["write_report"]


def write_report(experiment: Experiment, destination: Path | None = None) -> Path:
    """Write the page and return its path: `destination`, or `report.html` in the experiment's directory.

    Links to a trial's files are relative to the page, so page and experiment can move together. The same journal
    gives the same page. An existing page is replaced as a whole.

    Raises:
        StorageError: the journal cannot be read.
        OSError: the page cannot be written.
    """
    path = destination or experiment.root / "report.html"
    text = _environment().get_template("report.html").render(page(experiment, read(experiment), path.parent))
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, text)
    return path


def _environment() -> jinja2.Environment:
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("surpass.web"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(FILTERS)
    return environment
