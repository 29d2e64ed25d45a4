"""A result file decoded line by line.

The decoder of a whole file holds the interpreter for a second where there are a hundred thousand
lines, and nothing else in the process runs meanwhile. So the file is first decoded with its lines
left raw, then each line by itself. What passes and what comes out is the same as with
`codec.decode_result`.
"""

from collections.abc import Iterator
from typing import Annotated, Any

import msgspec
from msgspec import Meta, structs

from armka.contract.codec import InvalidMessage
from armka.contract.result import Document, Line, ResultFile


def _changed(kind: type[msgspec.Struct], name: str, field_type: Any) -> type[msgspec.Struct]:
    """A struct like `kind`, one of its fields of another type."""
    fields: list[Any] = []
    for field in structs.fields(kind):
        annotated = field_type if field.name == name else field.type
        fields.append((field.name, annotated, *_default(field)))
    return msgspec.defstruct(f"Raw{kind.__name__}", fields, kw_only=True)


def _default(field: structs.FieldInfo) -> tuple[Any, ...]:
    if field.required:
        return ()
    if field.default is not msgspec.NODEFAULT:
        return (field.default,)
    return (msgspec.field(default_factory=field.default_factory),)


_RawDocument = _changed(Document, "lines", list[msgspec.Raw])
_RawDocuments = Annotated[list[_RawDocument], Meta(min_length=1)]  # type: ignore[valid-type]
_file = msgspec.json.Decoder(_changed(ResultFile, "documents", _RawDocuments))
_line = msgspec.json.Decoder(Line)


def decode(body: bytes) -> ResultFile:
    """Read a result file by its schema (§2b); raises InvalidMessage."""
    try:
        fields = structs.asdict(_file.decode(body))
        documents = [_document(raw, index) for index, raw in enumerate(fields["documents"])]
        return ResultFile(**fields | {"documents": documents})
    except (ValueError, RecursionError) as error:
        raise InvalidMessage(str(error)) from None


def _document(raw: msgspec.Struct, index: int) -> Document:
    fields = structs.asdict(raw)
    return Document(**fields | {"lines": list(_lines(fields["lines"], index))})


def _lines(raw: list[msgspec.Raw], document: int) -> Iterator[Line]:
    for index, line in enumerate(raw):
        try:
            yield _line.decode(line)
        except msgspec.DecodeError as error:
            raise InvalidMessage(f"{error} (documents[{document}].lines[{index}])") from None
