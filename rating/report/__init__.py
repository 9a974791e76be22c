"""The HTML report of a run: one self-contained page."""

from rating.report.page import Run, write_page

__all__ = ["Run", "write_page"]
