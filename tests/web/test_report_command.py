"""`surpass report`, as typed."""

from __future__ import annotations

import json

import pytest
import typer
from typer.testing import CliRunner

from surpass.cli.report import report
from surpass.trial import ExperimentError


@pytest.fixture
def invoke():
    app = typer.Typer()
    app.command()(report)
    return lambda *arguments: CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def book(make_book):
    book = make_book(("good", "[red]odd[/red]"), trials=1)
    for trial in book.ids("good"):
        book.start(trial)
        book.done(trial, 0.1)
    return book


def test_it_prints_the_scoreboard_and_where_the_page_is(invoke, book):
    result = invoke(book.experiment.root)
    assert result.exit_code == 0
    assert "local/estimate-mean" in result.stdout
    assert "[red]odd[/red" in result.stdout
    assert str(book.experiment.root / "report.html") in result.stdout
    assert (book.experiment.root / "report.html").is_file()
    assert "2 trials have no outcome yet" in result.stderr


def test_json_is_rows_and_nothing_else(invoke, book):
    rows = json.loads(invoke(book.experiment.root, "--json").stdout)
    assert [(row["task"], row["agent"], row["outcome"]) for row in rows] == [
        ("local/estimate-mean", "good", "done"),
        ("local/estimate-mean", "[red]odd[/red]", "incomplete"),
        ("local/estimate-both", "good", "done"),
        ("local/estimate-both", "[red]odd[/red]", "incomplete"),
    ]
    assert (book.experiment.root / "report.html").is_file()


@pytest.mark.parametrize("name", ["page.html", "."])
def test_the_page_goes_where_it_is_sent(invoke, book, tmp_path, name):
    folder = tmp_path / "pages"
    folder.mkdir()
    assert invoke(book.experiment.root, "-o", folder / name).exit_code == 0
    assert [path.suffix for path in folder.iterdir()] == [".html"]
    assert not (book.experiment.root / "report.html").exists()


def test_a_directory_without_an_experiment_is_an_error_that_says_so(invoke, tmp_path):
    result = invoke(tmp_path)
    assert isinstance(result.exception, ExperimentError)
    assert "holds no experiment" in str(result.exception)
