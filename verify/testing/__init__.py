"""Modules for the tests of those who use indexproof: ``indexproof.strategies``.

This folder is on the path of the package itself, see ``indexproof/__init__.py``; nothing else belongs here.
"""
