"""Workers that join a run, and the coordinator who offers them its matches."""
