"""The suite as the environments of training libraries: one module a library, each with an extra of its own.

All of them drive ``agents.training.Match``. They import their library where they stand, so ``import agents`` needs none of them.
"""
