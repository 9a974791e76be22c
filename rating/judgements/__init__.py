"""Judgements: who found what of which case, from the records of a run or from files, and what they say of the judges."""
