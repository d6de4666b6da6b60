"""The parser of `kata` and its commands: argparse, with help in the student's language and errors of a single line."""

import argparse
from typing import Any, NoReturn

from torchkata.i18n import _, wrap

from .terminal import UsageError


class Formatter(argparse.HelpFormatter):
    """Formats the help. Chinese text is wrapped by its width on the screen."""

    def add_usage(self, usage: Any, actions: Any, groups: Any, prefix: str | None = None) -> None:
        """Print the usage after "usage:" in the student's language, or after another `prefix`."""
        super().add_usage(usage, actions, groups, _("usage: ") if prefix is None else prefix)

    def _format_action(self, action: argparse.Action) -> str:
        """Return the lines of an action. The commands are listed without a line for all of them."""
        if isinstance(action, argparse._SubParsersAction):
            return "".join(map(self._format_action, action._get_subactions()))
        return super()._format_action(action)

    def _split_lines(self, text: str, width: int) -> list[str]:
        return wrap(text, width, 0)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return "\n".join(indent + line for line in wrap(text, width, 0))


class Parser(argparse.ArgumentParser):
    """A parser that raises UsageError instead of exiting."""

    def __init__(self, prog: str, description: str = "", title: str = "", epilog: str = "") -> None:
        description = description[:1].upper() + description[1:]
        super().__init__(prog, None, description, epilog, formatter_class=Formatter, add_help=False, allow_abbrev=False)
        self._positionals.title, self._optionals.title = title or _("arguments"), _("options")
        self.add_argument("-h", "--help", action="help", help=_("show this help"))

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse the arguments. Raises UsageError if one is unexpected: the parser of `kata` does not know the usage."""
        options, unknown = super().parse_known_args(args, namespace)
        if unknown:
            usage = self.describe_usage()
            raise UsageError(_("unexpected argument {argument}; usage: {usage}", argument=unknown[0], usage=usage))
        return options, unknown

    def describe_usage(self) -> str:
        """Return the usage on a single line."""
        return " ".join(self.format_usage().removeprefix(_("usage: ")).split())

    def error(self, message: str) -> NoReturn:  # noqa: ARG002  (it is in English)
        """Raise UsageError with the usage."""
        raise UsageError(_("wrong arguments; usage: {usage}", usage=self.describe_usage()))
