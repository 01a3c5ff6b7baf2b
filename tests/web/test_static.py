"""The page: complete, self-contained, escaped, and with links that lead somewhere."""

from __future__ import annotations

import re
import shutil
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest

from surpass.trial import open_experiment
from surpass.verdict import Outcome
from surpass.web import write_report

HOSTILE = "<script>alert('x')</script>"
_VOID = {"meta", "br", "rect", "line", "circle", "path", "img", "link", "input"}


class Page(HTMLParser):
    """What a test asks of a page; fails on tags that do not nest."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: Counter[str] = Counter()
        self.attributes: list[tuple[str, str, str]] = []
        self.text = ""
        self.rows: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        assert not self._open, f"never closed: {self._open}"

    def handle_starttag(self, tag, attrs):
        self.tags[tag] += 1
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag not in _VOID:
            self._open.append(tag)
        if tag == "tr":
            self.rows.append("")

    def handle_startendtag(self, tag, attrs):
        self.tags[tag] += 1
        self.attributes += [(tag, name, value or "") for name, value in attrs]

    def handle_endtag(self, tag):
        if tag not in _VOID:
            assert self._open.pop() == tag

    def handle_data(self, data):
        self.text += data
        if "tr" in self._open:
            self.rows[-1] += f" {data.strip()}"

    def values(self, name: str) -> list[str]:
        return [value for _, attribute, value in self.attributes if attribute == name]


def render(book) -> tuple[Page, str, Path]:
    path = write_report(book.experiment)
    text = path.read_text("utf-8")
    return Page(text), text, path


@pytest.fixture
def book(make_book):
    """Every kind of outcome, with hostile strings wherever an outsider can put one."""
    book = make_book(("good", f"m:{HOSTILE}", "unlucky"), trials=2)
    for trial in book.ids("good"):
        book.start(trial)
        book.attempt(trial, 1, 5.0, None)
        book.attempt(trial, 2, 9.0, 0.3, note=HOSTILE)
        book.done(trial, 0.2, chosen=2)
    for trial in book.ids(f"m:{HOSTILE}"):
        book.start(trial)
        book.rejected(trial, Outcome.INVALID, "symlink", f"points to {HOSTILE}")
    for trial in book.ids("unlucky"):
        book.start(trial)
        book.infra(trial, f"the sandbox said {HOSTILE}")
    return book


def test_the_page_is_one_file_without_network_or_script(book):
    page, text, path = render(book)
    assert path == book.experiment.root / "report.html"
    assert text.startswith("<!doctype html>")
    assert not re.search(r"(?i)https?:|//[a-z]|@import|url\(|javascript:|data:", text)
    assert not {"script", "link", "iframe", "img", "object"} & set(page.tags)
    assert "default-src 'none'" in "".join(page.values("content"))


def test_hostile_strings_are_text(book):
    page, text, _ = render(book)
    assert "<script" not in text
    assert page.text.count(HOSTILE) >= 4
    assert not [name for _, name, _ in page.attributes if name.startswith("on")]


def test_links_are_relative_and_lead_to_files(book):
    page, _, path = render(book)
    links = [value for value in page.values("href") if not value.startswith("#")]
    assert len(links) == 2 * 2 * (4 + 4 + 3), "verdict, transcript, attempts and prompt; no verdict on an infra error"
    for link in links:
        assert not link.startswith("/")
        assert (path.parent / unquote(link)).exists(), link
    anchors = {value[1:] for value in page.values("href") if value.startswith("#")}
    identifiers = Counter(page.values("id"))
    assert anchors <= set(identifiers)
    assert max(identifiers.values()) == 1


def test_a_page_elsewhere_links_back(book, tmp_path):
    path = write_report(book.experiment, tmp_path / "pages" / "deep" / "index.html")
    links = [value for value in Page(path.read_text("utf-8")).values("href") if not value.startswith("#")]
    assert links
    assert all((path.parent / unquote(link)).exists() for link in links)


def test_every_row_instance_and_trial_is_there(book):
    page, _, _ = render(book)
    rows = [" ".join(row.split()) for row in page.rows]
    for agent in ("good", f"m:{HOSTILE}", "unlucky"):
        # Overall, one scoreboard row a task, one line a trial; the judged ones on three instances too.
        found = [row for row in rows if row.startswith(agent)]
        assert len(found) >= 1 + 2 + 4
    for name in ("mean", "spread"):
        assert any(row.startswith(name) for row in rows)
    assert sum("2 infra error" in row for row in rows) == 2
    assert "left out of every estimate" in page.text


def test_tables_are_semantic(book):
    page, _, _ = render(book)
    scopes = Counter(page.values("scope"))
    assert page.tags["th"] == sum(scopes.values())
    assert {"col", "row", "rowgroup"} == set(scopes)
    assert all(value == "0" for value in page.values("tabindex"))


def test_plots_use_the_colours_of_the_page(book):
    _, text, _ = render(book)
    assert text.count('role="img"') == 2
    assert "var(--c0)" in text
    assert "xmlns" not in text


def test_an_experiment_that_has_not_run(make_book):
    page, _, _ = render(make_book(("one", "two")))
    assert "No attempt was handed in." in page.text
    assert "2 incomplete" not in page.text
    assert page.text.count("1 incomplete") == 4
    assert "nothing has run yet" in page.text


def test_unsafe_is_loud(make_book):
    page, _, _ = render(make_book(unsafe=True))
    assert "alert" in page.values("role")
    assert "Unsafe: no sandbox." in page.text


def test_a_copy_without_tasks_and_environment_still_reports(book, tmp_path):
    for task in book.tasks.values():
        shutil.rmtree(task.root)
    (book.experiment.root / "environment.json").write_text("[]")
    book.experiment.journal.close()
    moved = shutil.move(book.experiment.root, tmp_path / "copy")
    page = Page(write_report(open_experiment(Path(moved))).read_text("utf-8"))
    assert page.text.count("is not on this machine") == 2
    assert "not recorded" in page.text


def test_the_same_journal_gives_the_same_page(book):
    assert render(book)[1] == render(book)[1]
