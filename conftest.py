"""Plain `pytest` here tests your katas in `assignment/`; each line below is one feature of that."""

import gc

gc.disable()  # until the tests are collected: what is imported stays, and torch alone is a seventh slower

pytest_plugins = (
    "torchkata.profiles",
    "torchkata.selection",
    "torchkata.first_pass",
    "torchkata.diagnose",
    "torchkata.progress",
    "torchkata.record",
    "torchkata.gpu",
)
