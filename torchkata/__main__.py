"""Allows `python -m torchkata` as an alternative to `kata`, in case the command is not on the PATH."""

from torchkata.cli.command import main

if __name__ == "__main__":
    main()
