"""Planted mistakes: declarations that are wrong on purpose, each next to its correct twin.

They are never part of the catalogue.  ``tests/verify/test_broken.py`` checks that the prover refutes each of them and
proves each twin.
"""
