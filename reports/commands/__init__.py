"""The commands of ``indexproof``: each parses its arguments, computes, and reports.

``../../cli.py`` assembles them. Modules that take long to load are imported inside the commands that need them.
"""
