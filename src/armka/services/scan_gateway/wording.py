"""What the gateway tells people, and what they can do."""

_AGAIN = "Запустите новую попытку обработки."
_ADMINISTRATOR = "Если ошибка повторится, сообщите администратору."
_UPLOAD_OSV = "Загрузите оборотно-сальдовую ведомость из 1С, лучше всего в формате XLSX."
_UPLOAD = "Загрузите PDF, PNG или JPG, который открывается без пароля."

AWAY = (
    "ИС «Сканирование» была недоступна, пока не вышло время на распознавание. "
    f"{_AGAIN} {_ADMINISTRATOR}"
)
NOT_LET_IN = (
    "ИС «Сканирование» не принимала учетные данные, пока не вышло время на распознавание. "
    "Сообщите администратору, затем запустите новую попытку обработки."
)
FULL = (
    f"ИС «Сканирование» была занята другими файлами, пока не вышло время на распознавание. {_AGAIN}"
)
SLOW = (
    "ИС «Сканирование» не закончила с этим файлом за отведенное время. "
    "Запустите новую попытку обработки или разделите файл."
)
NOT_SENT = f"Время, отведенное на распознавание файла, вышло до его отправки. {_AGAIN}"
LOST = f"ИС «Сканирование» несколько раз потеряла этот файл. {_AGAIN} {_ADMINISTRATOR}"
CANCELLED = f"Распознавание файла отменено в ИС «Сканирование». {_AGAIN}"
NOT_AS_AGREED = (
    "Ответ ИС «Сканирование» не соответствует согласованному виду. "
    f"Он сохранен. {_AGAIN} {_ADMINISTRATOR}"
)


BLANK = (
    "На страницах файла ничего не прочитано: они пусты или сняты слишком плохо. "
    "Отсканируйте документ заново."
)


def not_read(explanation: str) -> str:
    """Word that what was recognised is no trial balance that is read."""
    said = explanation.replace("на листе нет", "на страницах нет")
    return f"{said[:1].upper()}{said[1:]}. {_UPLOAD_OSV}"


def failed(message: str | None) -> str:
    """Word that the scanning system could not read the file."""
    return _said("ИС «Сканирование» не смогла распознать файл", message, _AGAIN)


def turned_down(message: str | None) -> str:
    """Word that the scanning system does not take the file."""
    return _said("ИС «Сканирование» не приняла файл", message, _UPLOAD)


def too_large(message: str | None) -> str:
    """Word that the file is larger than the scanning system takes."""
    return _said("Файл больше, чем принимает ИС «Сканирование»", message, "Разделите его.")


def not_as_agreed(reason: str) -> str:
    """Word what is wrong with an answer; `reason` is for whoever mends it."""
    return f"{NOT_AS_AGREED} ({reason[:300]})"


def too_many_pages(pages: int, limit: int) -> str:
    """Word that a file has more pages than are read."""
    return f"В файле страниц: {pages}, а читается не больше {limit}. Разделите файл."


def page_too_large(page: int, width: int, height: int) -> str:
    """Word that a page has more pixels than are read."""
    return (
        f"Страница {page} слишком велика: {width} × {height} точек. "
        "Отсканируйте документ с разрешением 300 точек на дюйм."
    )


def _said(what: str, message: str | None, then: str) -> str:
    said = (message or "").strip().rstrip(".")[:600]
    return f"{what}: {said}. {then}" if said else f"{what}. {then}"
