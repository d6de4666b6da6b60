"""Plain `pytest` here tests the katas in `assignment/`."""

pytest_plugins = ("torchkata.pytest_plugin.plugin",)
