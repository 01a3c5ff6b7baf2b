"""Pages for people: one static, self-contained report."""

from surpass.web.static import write_report

__all__ = ["write_report"]
