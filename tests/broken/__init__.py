"""Planted mistakes: declarations that are wrong on purpose, each next to its correct twin.

They are never part of the catalogue.  ``tests/verify/test_broken.py`` demands that the prover refutes every one and
proves every twin.
"""
