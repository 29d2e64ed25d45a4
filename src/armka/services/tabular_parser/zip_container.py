"""A workbook's zip, opened within limits: members, inflated size and ratio, whatever its own
directory claims.
"""

import io
import struct
import zipfile
import zlib
from posixpath import normpath
from xml.parsers import expat

from armka.services.tabular_parser.limits import Corrupt, Encrypted, TooLarge

MAX_MEMBERS = 1_000
MAX_INFLATED = 200 * 1024 * 1024
MAX_RATIO = 200
_SMALL = 1024 * 1024  # below this a ratio says nothing
_CHUNK = 1024 * 1024
# What zipfile raises of a damaged archive; of an unknown method a kind of RuntimeError.
_DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    OSError,
    ValueError,
    RuntimeError,
)
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


class ZipContainer:
    """Members by name, in any case and with either slash (`xl/SharedStrings.xml`)."""

    def __init__(self, data: bytes) -> None:
        """Raises Corrupt where it is no zip, TooLarge past a limit."""
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
        except _DAMAGE as error:
            raise Corrupt(f"zip: {error}") from error
        members = self._zip.infolist()
        if len(members) > MAX_MEMBERS:
            raise TooLarge(f"в архиве {len(members)} частей, можно не больше {MAX_MEMBERS}")
        self._members = {_canonical(member.filename): member for member in members}
        self._inflated = 0
        if sum(member.file_size for member in members) > MAX_INFLATED:
            raise TooLarge(f"в распакованном виде больше {MAX_INFLATED // 2**20} МБ")

    @property
    def names(self) -> list[str]:
        return list(self._members)

    def read(self, name: str) -> bytes:
        """Inflate a member. Raises Corrupt where it is missing or broken, Encrypted, TooLarge."""
        data = self.find(name)
        if data is None:
            raise Corrupt(f"zip: нет части {name}")
        return data

    def find(self, name: str) -> bytes | None:
        """Inflate a member; None where there is none of this name."""
        member = self._members.get(_canonical(name))
        if member is None:
            return None
        if member.flag_bits & 1:
            raise Encrypted
        if member.compress_type not in _METHODS:
            raise Corrupt(f"zip: способ сжатия {member.compress_type}")
        try:
            return self._inflate(member)
        except _DAMAGE as error:
            raise Corrupt(f"zip: {name}: {error}") from error

    def _inflate(self, member: zipfile.ZipInfo) -> bytes:
        parts = []
        size = 0
        with self._zip.open(member) as stream:
            while chunk := stream.read(_CHUNK):
                size += len(chunk)
                self._inflated += len(chunk)
                if self._inflated > MAX_INFLATED:
                    raise TooLarge(f"в распакованном виде больше {MAX_INFLATED // 2**20} МБ")
                if size > _SMALL and size > MAX_RATIO * max(member.compress_size, 1):
                    raise TooLarge(f"часть {member.filename} сжата сильнее, чем в {MAX_RATIO} раз")
                parts.append(chunk)
        return b"".join(parts)


def _canonical(name: str) -> str:
    return normpath(name.replace("\\", "/").lstrip("/")).lower()


def xml_parser(*, namespaces: bool = False) -> expat.XMLParserType:
    """An XML parser that takes no DTD, and so no entities: workbooks have none.

    `namespaces`: names come as a namespace, a space and the name.
    """
    parser = expat.ParserCreate(namespace_separator=" " if namespaces else None)
    parser.buffer_text = True

    def refuse(*_: object) -> None:
        raise Corrupt("xml: DTD")

    parser.StartDoctypeDeclHandler = refuse
    return parser


def parse_xml(parser: expat.XMLParserType, data: bytes) -> None:
    """Run a parser over a whole document; raises Corrupt where it is not well-formed, or in an
    encoding that nobody knows.
    """
    try:
        parser.Parse(data, True)
    except (expat.ExpatError, LookupError, ValueError) as error:
        raise Corrupt(f"xml: {error}") from error


def local(tag: str) -> str:
    """A tag without its prefix."""
    return tag.rpartition(":")[2]


class Relationships:
    """A part's relationships: by id, and the first of each kind by the last word of its type."""

    def __init__(self, container: ZipContainer, part: str) -> None:
        self._by_id: dict[str, str] = {}
        self.by_type: dict[str, str] = {}
        folder, _, name = part.rpartition("/")
        data = container.find(f"{folder}/_rels/{name}.rels")
        if data is None:
            return
        self._folder = folder
        parser = xml_parser()
        parser.StartElementHandler = self._start
        parse_xml(parser, data)

    def target(self, relation: str) -> str:
        """The part that an id leads to; raises Corrupt where it leads nowhere."""
        part = self._by_id.get(relation)
        if part is None:
            raise Corrupt(f"zip: связь {relation[:40]!r} никуда не ведет")
        return part

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        target = attributes.get("Target", "")
        if local(tag) != "Relationship" or attributes.get("TargetMode") == "External" or not target:
            return
        full = target if target.startswith("/") else f"{self._folder}/{target}"
        self._by_id[attributes.get("Id", "")] = full
        self.by_type.setdefault(attributes.get("Type", "").rpartition("/")[2], full)
