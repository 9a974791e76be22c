"""Play and watch in a browser: pages of people who play, and of a run that somebody watches.

``app.py`` puts the pages together: those of ``people.py``, where people answer what a desk asks them, and those of ``board.py``,
which show a run and change nothing. ``pages.py`` makes both of ``templates`` and ``static``, ``links.py`` and ``security.py``
guard them, and ``server.py`` serves them. What the board shows is computed in ``watched.py`` (what is recorded), ``tables.py``
(ratings, failures, costs), ``listing.py`` (which matches), ``transcript.py`` and ``positions.py`` (one match); ``live.py`` says
when, and ``shared.py`` makes a page once for all who look.
"""
