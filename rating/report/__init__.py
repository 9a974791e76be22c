"""The HTML report of a run: one self-contained page."""

from rating.report.page import render_page

__all__ = ["render_page"]
