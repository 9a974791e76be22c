"""Running: run files, run directories, executors and the runner."""
