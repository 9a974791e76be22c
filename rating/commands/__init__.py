"""What each command of ``llmarena`` does: one function a command, called with its parsed arguments."""
