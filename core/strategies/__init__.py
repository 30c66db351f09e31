"""Strategies propose rules for a form, with values for their variables.  They are not trusted."""
