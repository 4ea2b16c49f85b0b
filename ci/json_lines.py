"""Reading files of JSON lines."""

import json
import sys
from typing import Any


def read_json_lines(path: str) -> list[dict[str, Any]]:
    """The objects of a file, `-` for standard input; blank lines are skipped. A broken line ends the program."""
    with sys.stdin if path == "-" else open(path, encoding="utf-8") as file:
        objects = []
        for number, line in enumerate(file, start=1):
            if not line.strip():
                continue
            try:
                value = json.loads(line)
            except ValueError as error:
                sys.exit(f"{path}, line {number}: not JSON: {error}")
            if not isinstance(value, dict):
                sys.exit(f"{path}, line {number}: not a JSON object")
            objects.append(value)
    return objects
