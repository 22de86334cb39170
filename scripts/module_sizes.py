"""Small rooms: no module above 500 lines, median at most 150, tests at least as many lines as the source."""

from __future__ import annotations

import statistics
import sys
from pathlib import Path

MOST, MEDIAN = 500, 150
SOURCE, TESTS = ("starling_assets", "resources", "sensors"), ("tests",)


def sizes(root: Path, folders: tuple[str, ...]) -> dict[Path, int]:
    """Lines of every Python file below ``folders``."""
    files = (path for folder in folders for path in sorted((root / folder).rglob("*.py")))
    return {path.relative_to(root): len(path.read_text(encoding="utf-8").splitlines()) for path in files}


def main() -> int:
    """Print what is too large; exit code 1 when anything is."""
    root = Path(__file__).resolve().parent.parent
    source, tests = sizes(root, SOURCE), sizes(root, TESTS)
    problems = [f"{path}: {lines} lines, at most {MOST}" for path, lines in {**source, **tests}.items() if lines > MOST]
    middle = statistics.median(lines for lines in source.values() if lines > 1)
    if middle > MEDIAN:
        problems.append(f"median module has {middle:g} lines, at most {MEDIAN}")
    total, tested = sum(source.values()), sum(tests.values())
    sys.stdout.write(f"{len(source)} modules, {total} lines, median {middle:g}; tests {tested} lines\n")
    sys.stdout.writelines(f"{problem}\n" for problem in problems)
    return 1 if problems else 0


if __name__ == "__main__":
    raise SystemExit(main())
