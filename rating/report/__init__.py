"""The HTML report of a run or of imported results: one self-contained page."""

from rating.report.page import Run, write_page, write_results_page

__all__ = ["Run", "write_page", "write_results_page"]
