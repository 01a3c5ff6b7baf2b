"""`private/source.toml`: where the published numbers come from."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

__all__ = ["Paper", "Row", "Source"]


class _Document(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class Paper(_Document):
    """The publication a task is distilled from."""

    title: str
    authors: tuple[str, ...]
    venue: str
    year: Annotated[int, Field(ge=1900, le=2100)]
    doi: Annotated[str, Field(pattern=r"^10\.\d{4,9}/\S+$")]
    hide: tuple[str, ...] = ()
    """Words and names that must not appear in anything the agent sees."""


class Row(_Document):
    """One published number."""

    instance: str
    sota: str
    """As printed."""
    where: str
    """Table, figure or file."""
    checked: str
    """How the number in task.toml follows from it."""


class Source(_Document):
    """The whole of `source.toml`."""

    licence: str
    paper: Paper
    row: Annotated[tuple[Row, ...], Field(min_length=1)]
