"""The information firewall: an agent must not learn which paper it is measured against, nor how it is judged."""

from __future__ import annotations

import re
from collections.abc import Iterator

from surpass.check._types import Problem, Report
from surpass.check.static.reading import hint_files, is_placeholder, shown_files, source_of, text_of, words_of
from surpass.task import Task, package_files

__all__ = [
    "hides_authors_and_venue",
    "hides_hidden_words",
    "hides_judgement",
    "hides_title",
    "holds_no_host_paths",
    "holds_no_secrets",
]

_COMMON = frozenset(
    words_of(
        "a an and are as at based be between by for from has have in into is it its new of on or over that the their"
        " this through to under using via we which with without"
    )
)
_NO_NAMES = {"et al", "others", "he", "so", "do", *_COMMON}
_RUN = 4
"""Words in a row that, when most of them carry meaning, point to a title."""

_JUDGEMENT = {
    "private/": r"private/",
    "solutions/": r"solutions/",
    "evaluator": r"\bevaluators?\b",
    "source.toml": r"\bsource\.toml\b",
    "task.toml": r"\btask\.toml\b",
    "generate.py": r"\bgenerate\.py\b",
    "driver.py": r"\bdriver\.py\b",
    "hidden tests": r"\bhidden tests?\b",
}

_SECRETS = {
    "a private key": r"-----BEGIN [A-Z ]*PRIVATE KEY",
    "an AWS key": r"\b(AKIA|ASIA)[0-9A-Z]{16}\b",
    "a GitHub token": r"\bgh[opusr]_[A-Za-z0-9]{30,}\b|\bgithub_pat_[A-Za-z0-9_]{30,}\b",
    "an API key": r"\bsk-[A-Za-z0-9_-]{20,}\b|\bAIza[0-9A-Za-z_-]{35}\b|\bhf_[A-Za-z0-9]{30,}\b",
    "a Slack token": r"\bxox[abpr]-[A-Za-z0-9-]{10,}\b",
    "a password in an address": r"\b[a-z][a-z0-9+.-]*://[^\s/:@]+:[^\s/:@]+@",
}
_HOST_PATH = re.compile(r"(?<![\w./~-])(/home/[a-z_][\w.-]*|/Users/[\w.-]+|/root/[\w.-]+|[A-Z]:\\Users\\)")


def hides_title(task: Task) -> Report:
    """S14: neither the paper's title nor a telling part of it, hints included."""
    title = source_of(task).paper.title
    if is_placeholder(title):
        return
    runs = {" ".join(run) for run in _runs(words_of(title))}
    for name, text in _shown_with_hints(task):
        words = words_of(text)
        present = {" ".join(words[i : i + n]) for n in {len(run.split()) for run in runs} for i in range(len(words))}
        if found := sorted(runs & present):
            yield Problem(f"{name} holds words of the paper's title: '{found[0]}'")


def _runs(words: list[str]) -> Iterator[list[str]]:
    """The whole title when it is short, else every run of words in it that few other texts would hold."""
    if len(words) <= _RUN:
        yield words
        return
    for i in range(len(words) - _RUN + 1):
        run = words[i : i + _RUN]
        if len(set(run) - _COMMON) >= _RUN - 1:
            yield run


def hides_authors_and_venue(task: Task) -> Report:
    """S15: authors' family names, DOI and venue; hints may not name authors and DOI either."""
    paper = source_of(task).paper
    authors = [name for name in paper.authors if len(name) >= 2 and name.lower().strip(".") not in _NO_NAMES]
    for name, text in _shown_with_hints(task):
        for author in authors:
            if not is_placeholder(author) and _names(author, text):
                yield Problem(f"{name} names an author, '{author}'")
        if not is_placeholder(paper.doi) and (paper.doi.lower() in text.lower() or "doi.org/" in text.lower()):
            yield Problem(f"{name} holds the paper's DOI or a link to one")
    for name, text in shown_files(task):
        if not is_placeholder(paper.venue) and re.search(rf"(?<![A-Za-z]){re.escape(paper.venue)}(?![A-Za-z])", text):
            yield Problem(f"{name} names the venue, '{paper.venue}'")


def _names(author: str, text: str) -> bool:
    """Short family names are words too ("Long", "Best"), so only longer ones count in any spelling."""
    flags = re.IGNORECASE if len(author) > 5 else 0
    return re.search(rf"(?<![A-Za-z]){re.escape(author)}(?![a-z])", text, flags) is not None


def hides_hidden_words(task: Task) -> Report:
    """S16: the words under `hide`, which name the method: brief, title and public files stay free of them."""
    words = [word for word in source_of(task).paper.hide if not is_placeholder(word)]
    for name, text in shown_files(task):
        for word in words:
            # A word begins where no letter stands before it; it may go on ("autoregress" hides its endings).
            if re.search(rf"(?<![A-Za-z]){re.escape(word)}", text, re.IGNORECASE):
                yield Problem(f"{name} holds '{word}', which source.toml hides")


def hides_judgement(task: Task) -> Report:
    """S17: nothing about the package's private side."""
    for name, text in _shown_with_hints(task):
        for what, pattern in _JUDGEMENT.items():
            if re.search(pattern, text, re.IGNORECASE):
                yield Problem(f"{name} speaks of '{what}'")


def holds_no_secrets(task: Task) -> Report:
    """S26: no keys and passwords anywhere in the package."""
    for path in package_files(task.root):
        text = text_of(path)
        for what, pattern in _SECRETS.items():
            if re.search(pattern, text):
                yield Problem(f"{path.relative_to(task.root).as_posix()} seems to hold {what}")


def holds_no_host_paths(task: Task) -> Report:
    """S30: no path of the author's own machine."""
    for path in package_files(task.root):
        if found := _HOST_PATH.search(text_of(path)):
            yield Problem(f"{path.relative_to(task.root).as_posix()} holds a path of one machine, '{found[0]}'")


def _shown_with_hints(task: Task) -> Iterator[tuple[str, str]]:
    yield from shown_files(task)
    for path in hint_files(task):
        yield path.relative_to(task.root).as_posix(), text_of(path)
