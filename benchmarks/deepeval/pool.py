"""The scripted policies of DeepEval's tasks."""

from benchmarks.experiments.pool import Scripted

SCRIPTED: Scripted = {
    "public_goods_v0": ("free_rider", "conditional_cooperator", "full_contributor", "random"),
    "idiom_solitaire_v0": ("fewest", "random", "common"),
}
"""The ladders of the tasks: policies whose order is known (docs/deepeval.md)."""
