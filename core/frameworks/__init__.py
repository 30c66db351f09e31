"""Modules that are named as the framework they speak to: ``indexproof.jax``.

This folder is on the path of the package itself, see ``indexproof/__init__.py``; nothing else belongs here.
"""
