"""The run file and the settings of a run."""
