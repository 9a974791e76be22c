"""Policies: scripted baselines, language models, people.

A policy is a callable, ``policy(observation) -> action``, or text to be parsed; see ``agents.policy``.
"""
