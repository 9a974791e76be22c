"""The scripted policies of DeepEval's tasks."""

from benchmarks.experiments.pool import Scripted

CODE_REVIEW, TRANSLATION = "writer_editor_v0#code_review", "writer_editor_v0#translation"

SCRIPTED: Scripted = {
    "public_goods_v0": ("free_rider", "conditional_cooperator", "full_contributor", "random"),
    "idiom_solitaire_v0": ("fewest", "random", "common"),
    CODE_REVIEW: ("echo", "fixer", "unsure=fixer:skill=0.5"),
    TRANSLATION: ("echo", "translator", "careless=translator:noise=0.5"),
}
"""Scripted policies of each task, ordered by known strength (docs/deepeval.md)."""
