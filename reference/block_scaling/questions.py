"""Questions that `kata predict block_scaling` asks."""

from reference.block_scaling import oracle

QUESTIONS = {
    "bytes": {
        "text": "How large are {billions}e9 numbers in 4 bits, with a scale of {scale_bytes} bytes for each block of "
        "{block}?",
        "unit": "bytes",
        "sizes": {"billions": (7, 13, 70, 405), "scale_bytes": (1, 2, 4), "block": (16, 32, 64, 128)},
        "answer": lambda billions, scale_bytes, block: oracle.quantized_bytes(
            block, block, 4, scale_bytes, billions * 10**9 // block
        ),
        "formula": "{billions}e9 · (4 / 8 + {scale_bytes} / {block}) bytes = {right}.",
    },
    "scale": {
        "text": "The largest absolute value in a block is {most}. What is its scale in a format of {bits} bits?",
        "unit": "",
        "sizes": {"most": (0.03, 0.9, 1.5, 21, 112), "bits": (4, 8)},
        "answer": lambda most, bits: oracle.scale(most, bits),
        "formula": "{most} divided by the largest value of the format, 6 or 448, is {right}.",
    },
    "error": {
        "text": "The largest absolute value in a block of fp4 numbers is {most}. By how much can an element change at "
        "most?",
        "unit": "",
        "sizes": {"most": (0.03, 0.9, 1.5, 21, 112)},
        "answer": lambda most: oracle.scale(most, 4) * (oracle.MAGNITUDES[4][-1] - oracle.MAGNITUDES[4][-2]) / 2,
        "formula": "The largest gap is 6 - 4 = 2, half of it is 1, and 1 times the scale {most} / 6 is {right}.",
    },
}
