"""Change the package, one place at a time: which changes turn no test red?

    python .ci/mutate.py [--changes 10] [module ...]

Places are drawn at random among the lines that tests run: an operator, a comparison or a number. A
change is tried by the tests that run its line. What survives is printed, and counted.
"""

import argparse
import ast
import os
import random
import shutil
import subprocess
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from coverage import CoverageData
from joblib import Parallel, delayed

ROOT = Path(__file__).parents[1]
BUILD = ROOT / "_build/mutants"
PYTEST = [".venv/bin/pytest", "-q", "-x", "-p", "no:cacheprovider"]
MOST = 24  # tests of one change: the most particular ones, whose context has the fewest lines
OTHER = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult}
OTHER |= {ast.Lt: ast.GtE, ast.GtE: ast.Lt, ast.Gt: ast.LtE, ast.LtE: ast.Gt, ast.Eq: ast.NotEq}
OTHER |= {ast.NotEq: ast.Eq, ast.And: ast.Or, ast.Or: ast.And, ast.Is: ast.IsNot, ast.IsNot: ast.Is}


def changes(tree: ast.AST) -> Iterator[tuple[ast.AST, str]]:
    """Yield the nodes that can be changed, and what is changed of them."""
    for node in ast.walk(tree):
        if isinstance(node, ast.BinOp | ast.BoolOp) and type(node.op) in OTHER:
            yield node, "op"
        elif isinstance(node, ast.Compare) and type(node.ops[0]) in OTHER:
            yield node, "ops"
        elif isinstance(node, ast.Constant) and type(node.value) in (int, float):
            yield node, "value"


def change(node: ast.AST, what: str) -> None:
    """Change a node in its place."""
    if what == "value":
        node.value += 1
    elif what == "op":
        node.op = OTHER[type(node.op)]()
    else:
        node.ops[0] = OTHER[type(node.ops[0])]()


def covered() -> CoverageData:
    """Return which tests run which lines of the package."""
    file = BUILD / "coverage"
    if not file.exists():
        command = [*PYTEST, "-n", "auto", "--cov=mdsgdln", "--cov-context=test", "tests/package"]
        subprocess.run(command, cwd=ROOT, env=os.environ | {"COVERAGE_FILE": str(file)}, check=True)
    data = CoverageData(str(file))
    data.read()
    return data


def survives(module: Path, number: int, tests: list[str]) -> str:
    """Make one change, by its number, and return it in words if the tests stay green."""
    tree = ast.parse(module.read_text("utf8"))
    node, what = list(changes(tree))[number]
    before = ast.unparse(node)
    change(node, what)
    name = module.relative_to(ROOT)
    with_change = BUILD / f"{name.stem}-{number}"
    shutil.copytree(ROOT / "mdsgdln", with_change / "mdsgdln", dirs_exist_ok=True)
    (with_change / name).write_text(ast.unparse(tree), "utf8")
    here = os.environ | {"PYTHONPATH": str(with_change), "PYTHONDONTWRITEBYTECODE": "1"}
    run = partial(subprocess.run, cwd=ROOT, env=here, capture_output=True, timeout=300)
    try:
        green = run([*PYTEST, *tests]).returncode == 0
    except subprocess.TimeoutExpired:  # a loop without an end is seen, too
        green = False
    shutil.rmtree(with_change)
    return f"{name}:{node.lineno}: {before} -> {ast.unparse(node)}" if green else ""


def main() -> None:
    """Try the changes; print those that no test sees."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--changes", type=int, default=10, help="in each module")
    parser.add_argument("modules", nargs="*", type=Path)
    given = parser.parse_args()
    BUILD.mkdir(parents=True, exist_ok=True)
    data, calls = covered(), []
    lines = {test: 0 for test in data.measured_contexts()}
    for file in data.measured_files():
        for tests in data.contexts_by_lineno(file).values():
            for test in tests:
                lines[test] += 1
    for module in given.modules or sorted((ROOT / "mdsgdln").rglob("*.py")):
        by_line = data.contexts_by_lineno(str(module.resolve()))
        found = enumerate(changes(ast.parse(module.read_text("utf8"))))
        places = {n: by_line.get(node.lineno, []) for n, (node, _) in found}
        places = {n: sorted(filter(None, tests), key=lines.get) for n, tests in places.items()}
        tried = sorted(n for n, tests in places.items() if tests)
        for n in random.Random(0).sample(tried, min(given.changes, len(tried))):
            tests = [test.split("|")[0] for test in places[n][:MOST]]
            calls.append(delayed(survives)(module.resolve(), n, tests))
    survivors = list(filter(None, Parallel(-1, "threading")(calls)))
    print(*survivors, f"{len(survivors)} of {len(calls)} changes survive", sep="\n")


if __name__ == "__main__":
    main()
