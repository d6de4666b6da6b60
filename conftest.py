"""Plain `pytest` here tests your katas in `assignment/`; each line below is one feature of that."""

import gc

gc.disable()  # until the tests are collected: what is imported stays, and torch alone is a seventh slower

pytest_plugins = (
    "kata.profiles",
    "kata.selection",
    "kata.first_pass",
    "kata.diagnose",
    "kata.progress",
    "kata.record",
    "kata.gpu",
)
