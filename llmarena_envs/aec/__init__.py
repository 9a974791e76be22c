"""PettingZoo's AEC environments with action masks as text environments; a game is named by its module."""
