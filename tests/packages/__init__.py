"""Tests of the packages as a whole: imports, builds, and supported systems."""
