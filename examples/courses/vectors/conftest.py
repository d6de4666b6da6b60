"""Let `pytest` test your katas in `assignment/`."""

pytest_plugins = ("torchkata.pytest_plugin.plugin",)
