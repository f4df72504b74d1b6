"""The scheduler as machine code: a copy of the package in `.compiled`, its `core/scheduling` built by mypyc.

    python -m benchmarks.compiled
    PYTHONPATH=.compiled python -m benchmarks.scheduler_speed

It needs a C compiler, setuptools, and mypy, which `make install` brings. Nothing else uses the copy: it decides what
the sources decide, faster, and is out of date as soon as they change.
"""

import os
import shutil
from pathlib import Path

from mypyc.build import mypycify
from setuptools import setup

ROOT = Path(__file__).parent.parent
TARGET = ROOT / ".compiled"
BUILT = "app/core/scheduling"


def main() -> None:
    shutil.rmtree(TARGET, ignore_errors=True)
    for folder in ("app", "benchmarks"):
        shutil.copytree(ROOT / folder, TARGET / folder, ignore=shutil.ignore_patterns("__pycache__"))
    os.chdir(TARGET)
    sources = sorted(str(path) for path in Path(BUILT).glob("*.py") if path.name != "__init__.py")
    modules = mypycify(["--strict", *sources], opt_level="2", debug_level="0")
    setup(name="compiled", packages=[], ext_modules=modules, script_args=["--quiet", "build_ext", "--inplace"])
    shutil.rmtree("build")
    print(f"{len(sources)} modules built: PYTHONPATH={TARGET.name} python -m benchmarks.scheduler_speed")


if __name__ == "__main__":
    main()
