"""Runs `kata` as `python -m torchkata`, in case the command `kata` is not on the path."""

from torchkata.cli.command import main

if __name__ == "__main__":
    main()
