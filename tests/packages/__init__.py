"""Tests of the packages as a whole: what they import, what they are built into, and where they run."""
