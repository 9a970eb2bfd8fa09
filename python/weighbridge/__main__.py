"""`python -m weighbridge`: runs the command that the wheel installs."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig


def command() -> str:
    """The path of the command."""
    name = "weighbridge" + (sysconfig.get_config_var("EXE") or "")
    schemes = [sysconfig.get_path("scripts")]
    if sys.version_info >= (3, 10):
        user = sysconfig.get_preferred_scheme("user")
    else:
        user = "nt_user" if os.name == "nt" else "posix_user"
    schemes.append(sysconfig.get_path("scripts", scheme=user))
    # `pip install --target`.
    schemes.append(os.path.join(os.path.dirname(os.path.dirname(__file__)), "bin"))
    for folder in schemes:
        path = os.path.join(folder, name)
        if os.path.isfile(path):
            return path
    raise FileNotFoundError(f"no {name} in {', '.join(schemes)}")


def main() -> int:
    """Runs the command, replacing this process except on Windows."""
    path, arguments = command(), sys.argv[1:]
    if os.name == "nt":
        return subprocess.run([path, *arguments], check=False).returncode
    os.execv(path, [path, *arguments])


if __name__ == "__main__":
    sys.exit(main())
