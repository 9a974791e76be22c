"""What the experiments of all papers share: a row is a table or figure, planned as runs, played, measured, written and drawn."""
