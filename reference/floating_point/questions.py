"""Questions that `kata predict floating_point` asks."""

from reference.floating_point import oracle
from reference.floating_point.oracle import Format

DTYPES = {8: "float8_e4m3fn", 16: "bfloat16", 32: "float32"}
FORMAT = "a format like IEEE 754's with 1 sign bit, {exponent} exponent bits and {fraction} fraction bits"
BITS = {"exponent": (4, 5, 6, 7, 8), "fraction": (2, 3, 5, 7, 10, 12)}

QUESTIONS = {
    "storage": {
        "text": "How large is a tensor of shape ({rows}, {columns}) in a dtype of {bits} bits?",
        "unit": "bytes",
        "sizes": {"rows": (4096, 12288, 32000, 50257), "columns": (768, 1024, 4096, 8192), "bits": (*DTYPES,)},
        "answer": lambda rows, columns, bits: oracle.storage_bytes((rows,), DTYPES[bits], times=columns),
        "formula": "{rows} · {columns} elements · {bits} / 8 bytes = {right}: the size depends on nothing else.",
    },
    "largest": {
        "text": f"What is the largest finite number in {FORMAT}?",
        "unit": "",
        "sizes": BITS,
        "answer": lambda exponent, fraction: oracle.decode(
            2 ** (exponent + fraction) - 2**fraction - 1, Format(exponent, fraction)
        ),
        "formula": "(2 - 2**-{fraction}) · 2**(2**({exponent} - 1) - 1) = {right}: the exponent bits decide.",
    },
    "smallest": {
        "text": f"What is the smallest positive number in {FORMAT}?",
        "unit": "",
        "sizes": BITS,
        "answer": lambda exponent, fraction: oracle.decode(1, Format(exponent, fraction)),
        "formula": "2**(2 - 2**({exponent} - 1) - {fraction}) = {right}: numbers below half of it become 0.",
    },
}
