"""Play and watch in a browser.

- ``app.py``: the web application.
- ``people.py``: pages for human players, who answer the questions of the human input queue.
- ``board.py``: the board, read-only pages of a run.
- ``pages.py``: rendering of ``templates``.
- ``links.py``, ``security.py``: secret addresses and request checks.
- ``server.py``: the HTTP server.

Data of the board: ``watched.py`` (records), ``tables.py`` (ratings, failures, costs), ``listing.py`` (match list),
``transcript.py`` and ``positions.py`` (one match). ``live.py`` limits how often they are recomputed, and ``shared.py`` caches
responses.
"""
