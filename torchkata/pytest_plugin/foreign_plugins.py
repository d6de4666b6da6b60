"""pytest plugin that names the plugin of another program if it breaks pytest, in place of a long traceback."""

import traceback

import pytest

from torchkata.i18n import _
from torchkata.inside.reply import clean, format_error

OWN = ("torchkata", "hypothesis", "_hypothesis_pytestplugin")


class PluginErrors:
    """Explains errors of the plugins that pytest has found in the environment."""

    def __init__(self, manager: pytest.PytestPluginManager) -> None:
        self.manager = manager

    @pytest.hookimpl(tryfirst=True)
    def pytest_internalerror(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        """End pytest with one line about an error in a foreign plugin."""
        if name := self.find_plugin(excinfo.value):
            values = {"name": name, "error": clean(format_error(excinfo.value))}
            text = _("the pytest plugin {name} fails ({error}); run pytest without it: pytest -p no:{name}", **values)
            pytest.exit(text, pytest.ExitCode.INTERNAL_ERROR)

    def find_plugin(self, error: BaseException) -> str:
        """Return the name of the foreign plugin whose code raises an error, or which pytest refuses, or ""."""
        plugins = {get_package(plugin): plugin for plugin, _ in self.manager.list_plugin_distinfo()}
        frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
        packages = [str(frame.f_globals.get("__name__")).partition(".")[0] for frame in reversed(frames)]
        raising = plugins.get(next((package for package in packages if package in plugins), ""))
        plugin = getattr(error, "plugin", raising)
        return "" if plugin is None or get_package(plugin) in OWN else self.manager.get_name(plugin) or ""


def get_package(plugin: object) -> str:
    """Return the top-level package of a plugin, which usually is a module."""
    return str(getattr(plugin, "__name__", "")).partition(".")[0]


def pytest_addoption(pluginmanager: pytest.PytestPluginManager) -> None:
    """Handle errors from now on."""
    pluginmanager.register(PluginErrors(pluginmanager))
