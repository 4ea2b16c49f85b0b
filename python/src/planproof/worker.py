"""`python -m planproof.worker FILE[:NAME]` serves the agent in a file, or in a module, as `worker:` wants it."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Optional

from ._agent import Agent

USAGE = "usage: python -m planproof.worker FILE.py[:NAME] | MODULE[:NAME]"


def load(where: str) -> Agent:
    """The agent of that name, or the only one in a file or module."""
    place, name = _split(where)
    module = _module(place)
    if name is not None:
        found = getattr(module, name, None)
        if not isinstance(found, Agent):
            raise LookupError(f"{place} has no agent {name}: write @planproof.agent before the function")
        return found
    # By identity, so that an agent with two names is still the only one.
    agents = {id(value): value for value in vars(module).values() if isinstance(value, Agent)}
    if len(agents) != 1:
        raise LookupError(f"{place} has {len(agents)} agents: write {place}:NAME, and @planproof.agent before it")
    return next(iter(agents.values()))


def _split(where: str) -> tuple[str, Optional[str]]:
    place, colon, name = where.rpartition(":")
    # The colon behind a drive of Windows separates nothing.
    return (place, name) if colon and name.isidentifier() else (where, None)


def _module(place: str) -> ModuleType:
    if not place.endswith(".py"):
        # As with `python -m`, modules of the current directory can be imported.
        sys.path.insert(0, "")
        return importlib.import_module(place)
    path = Path(place).resolve()
    if not path.is_file():
        raise LookupError(f"there is no file {place}")
    # As for a script: modules beside it can be imported.
    sys.path.insert(0, str(path.parent))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise LookupError(f"{place} cannot be imported")
    module = importlib.util.module_from_spec(spec)
    # Before it runs, since its code may look its own module up, as dataclasses do.
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def main() -> None:
    """Serves the agent that the command line names."""
    if len(sys.argv) != 2:
        sys.exit(USAGE)
    try:
        agent = load(sys.argv[1])
    except LookupError as error:
        sys.exit(f"planproof.worker: {error}")
    agent.serve()


if __name__ == "__main__":
    main()
