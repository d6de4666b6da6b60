"""`grader` and `python -m grader`."""

from typing import NoReturn

from grader import signals


def main() -> NoReturn:
    """The command line, which takes a moment to import: Ctrl-C in it is one line, too."""
    signals.exit_at_ctrl_c("grader: stopped")
    from grader import cli

    cli.main()


if __name__ == "__main__":
    main()
