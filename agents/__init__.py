"""Policies: scripted baselines, language models, humans.

A policy is a callable ``policy(observation) -> action``; the action can be text to be parsed. See ``agents.policy``.
"""
