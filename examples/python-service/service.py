from armka.contract.result import Document, DocumentSource, Line
from armka.contract.vocabulary import ErrorCode, FileType, LineKind, Pipeline
from armka.sdk import Recognition, Refused, Service, Source
from armka.sdk.runtime import run


def recognise(source: Source) -> Recognition:
    """Read a trial balance (ОСВ): a title, then account;name;six amounts a line."""
    if source.file_type is not FileType.XLS:
        raise Refused(ErrorCode.UNSUPPORTED_FORMAT, "Этот сервис читает только текст под .xls.")
    try:
        title, *rows = source.path.read_text("utf-8").splitlines()
    except ValueError:
        raise Refused(ErrorCode.UNREADABLE, "Файл пуст или повреждён: это не текст.") from None
    lines = [line(n, *row.split(";")) for n, row in enumerate(rows, start=1)]
    document = Document(kind="OSV", group_schema="accounts", title=title, unit=1, checks=[],
                        source=DocumentSource(sheet="text"), lines=lines)  # fmt: skip
    return Recognition([document])


def line(n: int, account: str, name: str, *cells: str) -> Line:
    values = [cell or None for cell in cells]
    return Line(n=n, level=0, kind=LineKind.ACCOUNT, account=account, name=name, values=values)


SERVICE = Service("my-parser", "1.0.0", Pipeline.TABULAR, recognise)

if __name__ == "__main__":
    run(SERVICE)
