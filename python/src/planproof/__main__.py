"""`python -m planproof` is the program `planproof`."""

import os
import subprocess
import sys

from ._binary import find_binary


def main() -> None:
    """Runs the program with our arguments."""
    command = [find_binary(), *sys.argv[1:]]
    # There, execv starts another process and ends this one at once, so that a shell would not wait for the program.
    if sys.platform == "win32":
        sys.exit(subprocess.run(command).returncode)
    os.execv(command[0], command)


if __name__ == "__main__":
    main()
