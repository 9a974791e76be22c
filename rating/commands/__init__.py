"""Commands of ``llmarena``: one function per command, called with the parsed arguments."""
