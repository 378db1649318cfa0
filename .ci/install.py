"""Install what the book needs into .venv: python3 .ci/install.py [WHAT PIP INSTALLS ...]

uv does in seconds what takes pip more than a minute. Where it fails, pip does it, or says why not.
Of two installations at once the second waits for the first, and then has nothing to do.
"""

from __future__ import annotations  # so that an older Python can say that it is too old

import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VENV = ROOT / ".venv"
PYTHON = VENV / "bin/python"
OLDEST, TOO_NEW = (3, 11), (3, 15)
HELD: list[int] = []  # the lock's file: a child that outlives us keeps the others waiting
LOCK, COPY = ROOT / "requirements.txt", VENV / "requirements.txt"  # the copy: what is installed


def quietly(*command: str | Path) -> bool:
    """Run a command and return whether it ended well."""
    return subprocess.run(command, cwd=ROOT, capture_output=True, pass_fds=HELD).returncode == 0


def install(*what: str) -> None:
    """Install by uv, or by pip."""
    uv = shutil.which("uv") or VENV / "bin/uv"
    command = ["pip", "install", "--quiet", "--python", str(PYTHON), *what]
    if not (Path(uv).exists() and quietly(uv, *command)):
        pip = PYTHON, "-m", "pip", "install"
        subprocess.run([*pip, *what], cwd=ROOT, check=True, pass_fds=HELD)


def install_all() -> None:
    """Make .venv anew unless it holds what the lock says; install both distributions."""
    if not (COPY.exists() and COPY.read_bytes() == LOCK.read_bytes()):
        print("Installing into .venv what the book needs; once, up to two minutes.", flush=True)
        COPY.unlink(missing_ok=True)
        venv.create(VENV, clear=True, symlinks=os.name != "nt", with_pip=True)  # as python -m venv
        if not shutil.which("uv"):
            pip = PYTHON, "-m", "pip", "install"
            quietly(*pip, "--require-hashes", "--no-deps", "-r", ".ci/uv.txt")
        install("--require-hashes", "--no-deps", "-r", "requirements.txt")
        shutil.copy(LOCK, COPY)
    install("--no-deps", "--no-build-isolation", "--editable", ".", "--editable", "book")
    quietly(PYTHON, "-c", "import matplotlib.font_manager")  # lists fonts, and may say so
    (VENV / "ready").touch()


def main() -> int:
    """Wait for other installations, then install; return the exit status."""
    if not OLDEST <= sys.version_info[:2] < TOO_NEW:  # pip would complain about packages alone
        print(
            "Python 3.11 to 3.14 is needed, and this is {}.{}: make PYTHON=python3.13".format(
                *sys.version_info
            )
        )
        return 1
    with open(ROOT / "requirements.in") as file:  # a file that stays, to lock
        try:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX)
            HELD.append(file.fileno())
        except (ImportError, OSError):  # Windows, some network file systems
            pass
        try:
            install(*sys.argv[1:]) if sys.argv[1:] else install_all()
        except (OSError, subprocess.CalledProcessError) as error:
            if isinstance(error, OSError):  # pip has said its own
                print(error)
            print(
                "Not installed. It needs a network, once, and 1.3 GB of disk. "
                "When the cause is mended, run the same command again: it starts afresh."
            )
            return 1
    return 0


if __name__ == "__main__":
    os.environ.pop("VIRTUAL_ENV", None)
    os.environ["UV_SYSTEM_CERTS"] = "true"  # trust whom pip trusts
    if not os.access(os.path.expanduser("~"), os.W_OK):  # or uv gives up
        os.environ["UV_NO_CACHE"] = "true"
    sys.exit(main())
