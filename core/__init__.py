"""Indexing maps, their expressions, and everything that computes with them; knows no rule, op or solver."""

from . import condition as condition  # completes the operators of expressions
