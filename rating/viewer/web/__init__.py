"""Play and watch in a browser.

- ``app.py``: the web application.
- ``people.py``: pages for human players, who answer the questions of the human input queue.
- ``board.py``: the page of the report, served while a run is played.
- ``pages.py``: rendering of ``templates``, and server-sent events.
- ``links.py``, ``security.py``: secret addresses and request checks.
- ``server.py``: the HTTP server.

Data of the board: ``watched.py`` (records), ``tables.py`` (contents of the page), ``positions.py`` (pictures of a match).
``live.py`` limits how often they are recomputed, and ``shared.py`` caches responses.
"""
