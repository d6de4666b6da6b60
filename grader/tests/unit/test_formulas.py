"""Tests of the formulas that the documentation site typesets."""

import pytest

from scripts.formulas import typeset


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("√256 is 16", "<math><msqrt><mn>256</mn></msqrt></math> is 16"),
        ("a 1/√n", "a <math><mfrac><mn>1</mn><msqrt><mi>n</mi></msqrt></mfrac></math>"),
        (
            "√(2 / (a + b))",
            "<math><msqrt><mrow><mfrac><mn>2</mn><mrow><mi>a</mi><mo>+</mo><mi>b</mi></mrow></mfrac></mrow></msqrt></math>",
        ),
        ("`√x` and\n```\n√y\n```", "`√x` and\n```\n√y\n```"),
        (
            "```formulas\nv = g²   m\n```",
            "<table><tr><td><math><mi>v</mi><mo>=</mo><msup><mi>g</mi><mn>2</mn></msup></math></td>"
            "<td><math><mi>m</mi></math></td></tr></table>",
        ),
    ],
)
def test_roots_and_fractions_become_mathml(text: str, html: str) -> None:
    assert typeset(text) == html
