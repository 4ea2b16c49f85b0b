"""Where the program is that tests agents."""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig
from pathlib import Path

_NAME = "planproof.exe" if sys.platform == "win32" else "planproof"


def find_binary() -> str:
    """The program: PLANPROOF_BINARY, the one that was installed with this package, or the one on PATH."""
    if named := os.environ.get("PLANPROOF_BINARY"):
        return named
    # The scripts of this interpreter or environment come before those that were installed for the user alone.
    for scheme in (None, f"{os.name}_user"):
        folder = sysconfig.get_path("scripts") if scheme is None else sysconfig.get_path("scripts", scheme)
        if (path := Path(folder, _NAME)).is_file():
            return str(path)
    if found := shutil.which(_NAME):
        return found
    raise FileNotFoundError("there is no planproof: install its wheel, or set PLANPROOF_BINARY to the program")
