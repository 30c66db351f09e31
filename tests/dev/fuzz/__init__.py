"""Random maps, simplified, and the result compared with the map by every engine there is.

:mod:`.generate` makes the maps, each reproducible alone from a seed and a number; :mod:`.validate` asks the engines;
:mod:`.run` goes through any number of maps in parallel, keeps what was reached, and says what was not checked;
:mod:`.shrink` makes a failing map small.
"""
