"""The scenarios that the specification tells, and what proves those that no scenario of the kit
does: they are about a service.
"""

from dataclasses import dataclass

SERVICE = "tests/acceptance/test_service_scenarios.py"
EXAMPLES = "tests/contract/test_examples.py"


@dataclass(frozen=True)
class Told:
    """A scenario of the specification; `elsewhere`: tests by path and name, or why not."""

    title: str
    elsewhere: tuple[str, ...] = ()


RECOGNITION_JOB_EXCHANGE = (
    Told("Публикация запроса парсеру"),
    Told("NATS недоступен"),
    Told("Успешный результат"),
    Told("Повторная доставка"),
    Told("Ошибка сервиса"),
    Told("Отравленное сообщение"),
    Told("Сервис не ответил"),
    Told("Dev-окружение compose"),
    Told("NATS выключен"),
)
QUALITY_METRICS = (
    Told("Успешный результат"),
    Told("Повторная доставка"),
    Told("Ошибка сервиса"),
    Told("Результат пришёл после таймаута"),
    Told("Сырой ответ зарегистрирован"),
    Told("Факт отказа сервиса"),
    Told("Сервис взял, но не ответил"),
    Told("Факт таймаута"),
    Told("Новая попытка обработки файла"),
)
NATS_FILES_SUBJECTS = (
    Told("Публикация запроса ядром"),
    Told(
        "Сообщение не по схеме",
        (
            f"{SERVICE}::test_a_request_that_fails_its_schema_is_answered",
            f"{SERVICE}::test_the_attempt_of_an_invalid_request_may_stand_in_its_header",
        ),
    ),
    Told("Нечитаемый запрос", (f"{SERVICE}::test_an_unreadable_request_is_dropped",)),
    Told(
        "Невалидный повтор запроса, уже находящегося в работе",
        (f"{SERVICE}::test_an_invalid_repeat_is_dropped",),
    ),
    Told(
        "Примеры контракта — иллюстрации",
        (
            f"{EXAMPLES}::test_a_past_deadline_passes_the_schema",
            f"{SERVICE}::test_a_deadline_in_the_past_is_the_services_business",
        ),
    ),
    Told("Сервис жив"),
    Told("Сервис недоступен"),
    Told(
        "Повторный запрос пришёл в работающий сервис",
        (f"{SERVICE}::test_a_repeated_request_is_only_acknowledged",),
    ),
    Told("Успешный результат", (f"{SERVICE}::test_a_file_is_recognised",)),
    Told("Ошибка обработки", (f"{SERVICE}::test_an_unreadable_file_is_an_error",)),
)

CHANGES = {
    "recognition-job-exchange": RECOGNITION_JOB_EXCHANGE,
    "quality-metrics": QUALITY_METRICS,
    "nats-files-subjects": NATS_FILES_SUBJECTS,
}
