"""`python -m indexproof` is the `indexproof` command."""

from __future__ import annotations

import sys
from typing import NoReturn


def main() -> NoReturn:
    """The entry point of the ``indexproof`` script: the commands are loaded here, where a Ctrl-C is already expected."""
    try:
        from .cli import main as run

        run()
    except KeyboardInterrupt:
        sys.stderr.write("interrupted: nothing was checked\n")
        sys.exit(2)


if __name__ == "__main__":
    main()
