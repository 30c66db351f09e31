"""The commands of ``indexproof``: what is asked for on the command line, computed and reported.

``../../cli.py`` puts them together. Modules that take time to load are imported by the commands that need them.
"""
