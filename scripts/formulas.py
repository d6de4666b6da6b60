"""Typesets the formulas of a page as MathML, which browsers draw without a library or a network.

The sources have them in Unicode, so that they are readable in a terminal and on GitHub as well.
"""

import re
from collections.abc import Iterator
from html import escape

CODE = re.compile(r"(```.*?```|`[^`\n]*`)", re.DOTALL)
LINES = re.compile(r"```formulas\n(.*?)```", re.DOTALL)  # a table of formulas: its columns are two spaces apart
GROUP = r"\((?:[^()]|\([^()]*\))*\)"
ROOT = re.compile(rf"(?:[\w.]+ ?/ ?)?√(?:{GROUP}|\w+(?:\.\d+)?)")  # a root, or a fraction whose denominator is a root
TOKEN = re.compile(r"\d+(?:\.\d+)?|[^\W\d_²³][^\W²³]*|[^\w\s]|[²³]")
POWERS = {"²": 2, "³": 3}


def typeset(markdown: str) -> str:
    """Replace tables of formulas and, outside of code, roots and fractions of roots."""
    markdown = LINES.sub(lambda found: make_table(found[1]), markdown)
    parts = CODE.split(markdown)
    parts[::2] = [ROOT.sub(lambda found: write(found[0]), part) for part in parts[::2]]
    return "".join(parts)


def make_table(lines: str) -> str:
    """Return an HTML table of formulas."""
    rows = (re.split(r" {2,}", line) for line in lines.splitlines())
    cells = ("".join(f"<td>{write(cell)}</td>" for cell in row) for row in rows)
    return f"<table>{''.join(f'<tr>{row}</tr>' for row in cells)}</table>"


def write(formula: str) -> str:
    """Return a formula as MathML."""
    return f"<math>{''.join(read(iter(TOKEN.findall(formula))))}</math>"


def read(tokens: Iterator[str]) -> list[str]:
    """Return the elements of a formula up to its end or an unmatched closing parenthesis."""
    nodes: list[str] = []
    for token in tokens:
        if token == ")":
            break
        if token in POWERS:
            nodes.append(f"<msup>{nodes.pop()}<mn>{POWERS[token]}</mn></msup>")
        elif token == "/":
            nodes.append(f"<mfrac>{nodes.pop()}{read_operand(tokens)}</mfrac>")
        else:
            nodes.append(read_operand(tokens, token))
    return nodes


def read_operand(tokens: Iterator[str], token: str = "") -> str:
    """Return the element that begins with this token, or else with the next one, without its brackets."""
    token = token or next(tokens)
    if token == "√":
        return f"<msqrt>{read_operand(tokens)}</msqrt>"
    if token == "(":
        return f"<mrow>{''.join(read(tokens))}</mrow>"
    if token.isalpha() and len(token) > 1:
        return f"<mtext>{token}\u00a0</mtext>"  # a no-break space, which MathML keeps
    kind = "mn" if token[0].isdigit() else "mi" if token[0].isalpha() else "mo"
    return f"<{kind}>{escape(token)}</{kind}>"
