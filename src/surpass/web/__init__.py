"""Pages and pictures for people, each self-contained."""

from surpass.web.progression import progression_svg
from surpass.web.search_curves import search_curves_svg
from surpass.web.static import write_report

__all__ = ["progression_svg", "search_curves_svg", "write_report"]
