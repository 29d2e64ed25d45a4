"""A compound file (OLE2) with given streams: what encrypted workbooks and Word documents look like
from outside.
"""

import struct
from pathlib import Path

_SECTOR = 512
_SMALLEST = 4096  # shorter streams would go to a mini stream
_END, _FREE, _FAT = 0xFFFFFFFE, 0xFFFFFFFF, 0xFFFFFFFD
_NONE = 0xFFFFFFFF


def write(path: Path, streams: dict[str, bytes]) -> None:
    """Write the streams, padded with zeros to the least size that stands in sectors of its own."""
    padded = {name: data.ljust(_SMALLEST, b"\0") for name, data in streams.items()}
    directory = _sectors(128 * (1 + len(padded)))
    fat = [_FAT, *range(2, directory + 1), _END]
    starts = {}
    for name, data in padded.items():
        starts[name] = len(fat)
        count = _sectors(len(data))
        fat.extend([*range(len(fat) + 1, len(fat) + count), _END])
    assert len(fat) <= _SECTOR // 4
    fat.extend([_FREE] * (_SECTOR // 4 - len(fat)))
    entries = _entry("Root Entry", 5, _END, 0, child=1)
    for index, (name, data) in enumerate(padded.items(), 1):
        right = index + 1 if index < len(padded) else _NONE
        entries += _entry(name, 2, starts[name], len(data), right=right)
    body = struct.pack(f"<{len(fat)}I", *fat) + entries.ljust(directory * _SECTOR, b"\0")
    for data in padded.values():
        body += data.ljust(_sectors(len(data)) * _SECTOR, b"\0")
    path.write_bytes(_header() + body)


def _sectors(size: int) -> int:
    return -(-size // _SECTOR)


def _header() -> bytes:
    fixed = struct.pack(
        "<8s16sHHHHH6x", bytes.fromhex("D0CF11E0A1B11AE1"), bytes(16), 0x3E, 3, 0xFFFE, 9, 6
    )
    chains = struct.pack("<IIIIIIIII", 0, 1, 1, 0, _SMALLEST, _END, 0, _END, 0)
    return fixed + chains + struct.pack("<I", 0) + struct.pack("<I", _FREE) * 108


def _entry(
    name: str, kind: int, start: int, size: int, *, right: int = _NONE, child: int = _NONE
) -> bytes:
    encoded = f"{name}\0".encode("utf-16-le")
    head = encoded.ljust(64, b"\0") + struct.pack(
        "<HBBIII", len(encoded), kind, 1, _NONE, right, child
    )
    return head + bytes(16 + 4 + 16) + struct.pack("<IQ", start, size)
