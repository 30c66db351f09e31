"""`python -m indexproof` is the `indexproof` command."""

from .cli import main

if __name__ == "__main__":
    main()
