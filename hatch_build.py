"""Adds the course for self-learners to the wheel: `torchkata/archives/`, for `kata init` and `kata solution`."""

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

MODULE = "grader.commands.release.self_study"


class CustomBuildHook(BuildHookInterface[Any]):
    """Writes the archives with the code of `grader release`. An editable install does not need them."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the archives to the files of the wheel."""
        if version != "editable":
            self.folder = tempfile.TemporaryDirectory()
            subprocess.run([sys.executable, "-m", MODULE, self.folder.name], cwd=self.root, check=True)
            paths = Path(self.folder.name).iterdir()
            build_data["force_include"] |= {str(path): f"torchkata/archives/{path.name}" for path in paths}

    def finalize(self, version: str, *_: object) -> None:
        """Remove the temporary folder once the wheel is written."""
        if version != "editable":
            self.folder.cleanup()
