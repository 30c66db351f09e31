"""Modules for tests in projects that use indexproof: ``indexproof.strategies``.

This folder is on the search path of the package itself (see ``indexproof/__init__.py``); nothing else belongs here.
"""
