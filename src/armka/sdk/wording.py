"""What a service tells people about a file that it did not recognise, and what they can do."""

MESSAGE_CHARACTERS = 1000

_AGAIN = "Запустите новую попытку обработки."
_ADMINISTRATOR = f"{_AGAIN} Если ошибка повторится, сообщите администратору."

DEADLINE_PASSED = f"Время, отведённое на распознавание файла, вышло. {_AGAIN}"
STOPPED = f"Сервис распознавания был остановлен, не закончив с этим файлом. {_AGAIN}"
CRASHED = (
    "При чтении файла программа распознавания аварийно завершилась: вероятно, файл повреждён. "
    "Откройте его, сохраните заново и загрузите сохранённый файл."
)
OUT_OF_MEMORY = (
    "Для чтения файла не хватает памяти, отведённой на один файл. "
    "Разделите его или удалите из него всё, кроме оборотно-сальдовой ведомости."
)
UNEXPECTED = f"Внутренняя ошибка сервиса распознавания. {_ADMINISTRATOR}"
SOURCE_MISSING = "Загруженного файла нет в хранилище. Загрузите его ещё раз."
SOURCE_UNREACHABLE = (
    f"Хранилище файлов было недоступно, пока не вышло время на распознавание. {_AGAIN}"
)
RESULT_NOT_STORED = f"Файл распознан, но хранилище не успело принять результат. {_AGAIN}"


def too_slow(seconds: float) -> str:
    """Word that a file took longer than one file may."""
    return f"Чтение файла заняло больше {seconds:g} с, отведённых на один файл. Разделите его."


def source_too_large(limit: int) -> str:
    """Word that the source is not even fetched."""
    return f"Файл больше {limit} байт: такие файлы не распознаются. Разделите его."


def result_too_large(limit: int) -> str:
    """Word that the result is not stored."""
    return f"Прочитанное из файла занимает больше {limit} байт. Разделите его."


def wrong_file_type(file_type: str) -> str:
    """Word that a file came to a service that does not read its type."""
    return f"Файлы {file_type} этот сервис не распознаёт. Загрузите файл ещё раз."


def mismatch(reason: str) -> str:
    """Word that a request does not keep the contract; `reason` is for whoever mends it."""
    return f"Запрос на распознавание не соответствует контракту: {reason}"


def presentable(message: str) -> str:
    """Cut a message to what an envelope carries, without NUL (PostgreSQL stores none)."""
    text = message.replace("\0", "").encode(errors="replace").decode()
    return text if len(text) <= MESSAGE_CHARACTERS else f"{text[: MESSAGE_CHARACTERS - 1]}…"
