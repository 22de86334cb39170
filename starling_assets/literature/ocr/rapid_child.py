"""The child process in which RapidOCR reads one picture: a PNG on standard input, lines as JSON on standard output.

Called as ``python -m starling_assets.literature.ocr.rapid_child``. Each line is ``[left, top, right, bottom, text]`` in
pixels. The models come with the package: nothing is fetched.
"""

from __future__ import annotations

import json
import sys


def main() -> int:
    """Read the picture and write its lines, or one line of text that says what failed."""
    from rapidocr import RapidOCR

    engine = RapidOCR(params={"Global.log_level": "critical"})
    found = engine(sys.stdin.buffer.read())
    lines = []
    for box, text in zip(found.boxes if found.boxes is not None else (), found.txts or (), strict=True):
        across, down = [float(point[0]) for point in box], [float(point[1]) for point in box]
        lines.append([min(across), min(down), max(across), max(down), text])
    sys.stdout.write(json.dumps(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
