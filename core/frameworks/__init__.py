"""Modules named after the framework that they connect to, such as ``indexproof.jax``.

This folder is on the path of the package itself, see ``indexproof/__init__.py``; nothing else belongs here.
"""
