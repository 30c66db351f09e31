"""Random maps are simplified, and all engines compare the result with the map.

:mod:`.generate` makes the maps, each reproducible alone from a seed and a number; :mod:`.validate` asks the engines;
:mod:`.runs` examines any number of maps in parallel, shrinks a failing one, and reports the part that was not checked.
"""
