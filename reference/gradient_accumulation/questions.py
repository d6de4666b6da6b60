"""Questions that `kata predict gradient_accumulation` asks."""

from reference.gradient_accumulation import oracle

QUESTIONS = {
    "calls": {
        "text": "A batch of {batch} rows is split into micro-batches of at most {rows} rows. How "
        "often is the model called?",
        "unit": "calls",
        "sizes": {"batch": (100, 250, 500, 1000), "rows": (8, 12, 32, 48)},
        "answer": lambda batch, rows: len(oracle.list_call_sizes(batch, rows)),
        "formula": "{batch} / {rows}, rounded up, = {right}.",
    },
    "activations": {
        "text": "The activations of one row need {mebibytes} MiB, and the batch has {batch} rows. How much memory do "
        "the activations need at a time with micro-batches of {rows} rows?",
        "unit": "bytes",
        "sizes": {"mebibytes": (3, 10, 24, 100), "batch": (512, 1024, 4096), "rows": (4, 8, 16, 32)},
        "answer": lambda mebibytes, batch, rows: max(oracle.split_rows(batch, rows)) * mebibytes * 2**20,
        "formula": "{rows} · {mebibytes} · 2**20 bytes = {right}, whether the batch has {batch} rows or more.",
    },
    "weight": {
        "text": "A batch is split into {count} micro-batches: {count} - 1 of {rows} rows, and a last one of {left}. "
        "How many times too much does each row of the last one count if you average the means of the micro-batches?",
        "unit": "times",
        "sizes": {"count": (3, 4, 5, 8), "rows": (16, 32, 64), "left": (1, 2, 4)},
        "answer": lambda count, rows, left: 1 / count / oracle.get_weights([rows] * (count - 1) + [left], rows)[-1],
        "formula": "(1 / {count}) / ({left} / (({count} - 1) · {rows} + {left})) = {right}: weight each mean by its "
        "rows.",
    },
}
