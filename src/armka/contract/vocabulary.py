"""The closed sets of words that the contract uses."""

from enum import StrEnum


class Pipeline(StrEnum):
    """Which kind of service a file goes to."""

    TABULAR = "tabular"
    IMAGE = "image"


class FileType(StrEnum):
    """What a source file is, by its content and name together (F1)."""

    XLS = "XLS"
    XLSX = "XLSX"
    XLSB = "XLSB"
    PDF = "PDF"
    PNG = "PNG"
    JPG = "JPG"

    @property
    def pipeline(self) -> Pipeline:
        """The pipeline that recognises files of this type."""
        return Pipeline.TABULAR if self in _TABULAR else Pipeline.IMAGE


_TABULAR = frozenset({FileType.XLS, FileType.XLSX, FileType.XLSB})


class ErrorCode(StrEnum):
    """Why a service could not recognise a file (C2)."""

    UNSUPPORTED_FORMAT = "UNSUPPORTED_FORMAT"
    UNREADABLE = "UNREADABLE"
    TIMEOUT = "TIMEOUT"
    SCHEMA_MISMATCH = "SCHEMA_MISMATCH"
    NOT_IMPLEMENTED = "NOT_IMPLEMENTED"
    FILE_READ_ERROR = "FILE_READ_ERROR"
    INVALID_FORMAT = "INVALID_FORMAT"
    INVALID_DOCUMENT = "INVALID_DOCUMENT"
    RECOGNITION_FAILED = "RECOGNITION_FAILED"
    UNKNOWN_ERROR = "UNKNOWN_ERROR"


class LineKind(StrEnum):
    """What a trial-balance line is about."""

    ACCOUNT = "account"
    DIMENSION = "dimension"
    PERIOD = "period"
    CURRENCY = "currency"
    INDICATOR = "indicator"
    TOTAL = "total"
    GROUP = "group"


class Column(StrEnum):
    """The six amounts of a line, in the order in which `values` holds them."""

    OPENING_DEBIT = "opening_debit"
    OPENING_CREDIT = "opening_credit"
    TURNOVER_DEBIT = "turnover_debit"
    TURNOVER_CREDIT = "turnover_credit"
    CLOSING_DEBIT = "closing_debit"
    CLOSING_CREDIT = "closing_credit"


class Severity(StrEnum):
    """How much a failed check weighs: an `error` sends the file to an analyst."""

    ERROR = "error"
    WARNING = "warning"
