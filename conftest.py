"""Plain `pytest` here tests your katas in `assignment/`; each line below is one feature of that."""

pytest_plugins = (
    "kata.profiles",
    "kata.selection",
    "kata.first_pass",
    "kata.diagnose",
    "kata.progress",
    "kata.record",
    "kata.gpu",
)
