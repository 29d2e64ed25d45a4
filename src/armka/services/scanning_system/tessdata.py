"""Whether this machine can read pictures, and what it lacks where it cannot."""

import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

_DATA = "rus.traineddata"
_MODULES = ("tesserocr", "cv2")
_FOLDERS = (
    Path(sys.prefix) / "share/tessdata",
    Path("/usr/share/tesseract-ocr/5/tessdata"),
    Path("/usr/share/tesseract-ocr/4.00/tessdata"),
    Path("/usr/share/tessdata"),
    Path("/usr/local/share/tessdata"),
)


@dataclass(frozen=True)
class Ocr:
    """The folder of the language data, or what is missing, in words for an operator."""

    folder: Path | None
    missing: str | None


def find_ocr(configured: Path | None) -> Ocr:
    """Look for the engine and its language data."""
    for module in _MODULES:
        if find_spec(module) is None:
            return Ocr(None, f"the module {module}: install arm-ka[scan]")
    folders = (configured,) if configured is not None else _FOLDERS
    for folder in folders:
        if (folder / _DATA).is_file():
            return Ocr(folder, None)
    looked = ", ".join(map(str, folders))
    return Ocr(
        None,
        f"{_DATA}, looked for in {looked}: install tesseract-ocr-rus, or run `make system-deps`, "
        "or set SCANNING_TESSDATA_DIR",
    )
