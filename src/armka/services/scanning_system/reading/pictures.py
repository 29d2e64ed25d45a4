"""PNG and JPG files: looked at before they are decoded, decoded whole or not at all."""

import warnings

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageOps, UnidentifiedImageError

from armka.contract.vocabulary import ErrorCode
from armka.sdk import Refused
from armka.services.scanning_system.reading.calls import Kind, Limits

_FORMATS = {"PNG": ["PNG"], "JPG": ["JPEG"]}
_DPI_LEAST, _DPI_MOST = 100, 1200
_DAMAGED = (
    "Изображение повреждено: файл обрывается или записан с ошибками. "
    "Отсканируйте документ заново и загрузите еще раз."
)


def load(path: str, kind: Kind, limits: Limits) -> tuple[NDArray[np.uint8], int | None]:
    """The picture upright as its camera says, RGB, and its dpi if it names one; raises Refused."""
    try:
        with warnings.catch_warnings(), Image.open(path, formats=_FORMATS[kind]) as picture:
            warnings.simplefilter("ignore")
            _check(picture, kind, limits)
            picture.load()
            turned = ImageOps.exif_transpose(picture)
            return np.array(_rgb(turned), dtype=np.uint8), _dpi(picture)
    except (UnidentifiedImageError, OSError, SyntaxError, ValueError, EOFError):
        raise Refused(ErrorCode.UNREADABLE, _DAMAGED) from None
    except Image.DecompressionBombError:
        raise _too_large("178 млн и более", limits) from None


def _check(picture: Image.Image, kind: Kind, limits: Limits) -> None:
    pixels = picture.width * picture.height
    if pixels > limits.max_pixels:
        raise _too_large(f"{picture.width} x {picture.height}", limits)
    if kind == "PNG" and getattr(picture, "n_frames", 1) > 1:
        raise Refused(
            ErrorCode.INVALID_FORMAT,
            "Это анимация из нескольких кадров, а не страница документа. "
            "Сохраните страницу обычным изображением PNG или JPG.",
        )


def _too_large(size: str, limits: Limits) -> Refused:
    return Refused(
        ErrorCode.FILE_READ_ERROR,
        f"В изображении слишком много точек ({size}), читается не больше {limits.max_pixels}. "
        "Отсканируйте документ с разрешением 300 точек на дюйм.",
    )


def _rgb(picture: Image.Image) -> Image.Image:
    if picture.mode.startswith("I") or picture.mode == "F":  # 16 bits of grey
        grey = np.asarray(picture, dtype=np.float32)
        return Image.fromarray((grey / 256).clip(0, 255).astype(np.uint8)).convert("RGB")
    if picture.mode in ("RGBA", "LA", "PA") or "transparency" in picture.info:
        paper = Image.new("RGBA", picture.size, "white")
        return Image.alpha_composite(paper, picture.convert("RGBA")).convert("RGB")
    return picture.convert("RGB")


def _dpi(picture: Image.Image) -> int | None:
    """What a scanner names; what a camera or a screen names (72, 96) is no measure of a page."""
    named = picture.info.get("dpi")
    dpi = round(float(named[0])) if named else 0
    return dpi if _DPI_LEAST <= dpi <= _DPI_MOST else None
