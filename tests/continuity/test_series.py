"""Which documents belong together, and how their periods lie."""

from datetime import date, timedelta
from typing import Any

from armka.core.continuity.series import Overlap, arranged, words_of

START = date(2024, 1, 1)


def _document(
    first: str, last: str, name: str | None = "ООО «Берег»", **more: Any
) -> dict[str, Any]:
    usual = {
        "organisation_name": name,
        "organisation_inn": None,
        "group_schema": "accounts",
        "account": None,
        "currency": None,
        "period_from": date.fromisoformat(first),
        "period_to": date.fromisoformat(last),
        "uploaded_at": START,
        "id": f"{first} {last}",
    }
    return usual | more


Q1 = _document("2024-01-01", "2024-03-31")
Q2 = _document("2024-04-01", "2024-06-30", 'Общество с ограниченной ответственностью "БЕРЕГ"')
Q4 = _document("2024-10-01", "2024-12-31", "Берег ООО")


def test_quarters_of_one_organisation_follow_each_other() -> None:
    """However its name is written; what lies between them uncovered is told."""
    [series] = arranged([Q4, Q2, Q1])
    assert series.documents == [Q1, Q2, Q4]
    assert series.pairs == [(Q1, Q2)]
    assert series.gaps == [(date(2024, 7, 1), date(2024, 9, 30))]
    assert series.overlaps == []


def test_the_inn_comes_first_and_lends_itself_to_the_same_name() -> None:
    """Two firms of one name stay two; a document without an INN joins where there is one only."""
    known = Q1 | {"organisation_inn": "7700000001"}
    renamed = _document(
        "2024-04-01", "2024-06-30", "ООО «Новый берег»", organisation_inn="7700000001"
    )
    nameless = Q4
    [series] = arranged([known, renamed, nameless])
    assert len(series.documents) == 3
    other = _document("2024-04-01", "2024-06-30", organisation_inn="7700000002")
    assert [len(one.documents) for one in arranged([known, other, nameless])] == [1, 1, 1]


def test_accounts_charts_and_currencies_keep_apart() -> None:
    """A document of account 60 does not go on in a general one, nor roubles in dollars."""
    others = [
        Q2 | {"account": "60"},
        Q2 | {"group_schema": "budget"},
        Q2 | {"currency": "USD"},
        Q2 | {"organisation_name": "АО «Луг»"},
    ]
    assert [one.pairs for one in arranged([Q1, *others])] == [[]] * 5
    [series] = arranged([Q1, Q2 | {"group_schema": "accounts_subaccounts", "currency": "rub"}])
    assert len(series.pairs) == 1


def test_periods_over_each_other_are_told_and_all_go_on() -> None:
    """A year begins where each of the documents that end before it ended."""
    year = _document("2023-01-01", "2023-12-31")
    last_quarter = _document("2023-10-01", "2023-12-31")
    half = _document("2024-01-01", "2024-06-30")
    odd = _document("2024-03-01", "2024-07-31")
    [series] = arranged([half, odd, Q1, last_quarter, year])
    assert {(one["id"], other["id"]) for one, other in series.pairs} == {
        (one["id"], other["id"]) for one in (year, last_quarter) for other in (Q1, half)
    }
    kinds = {(one["id"], other["id"]): kind for one, other, kind in series.overlaps}
    assert kinds[year["id"], last_quarter["id"]] is Overlap.WITHIN
    assert kinds[Q1["id"], half["id"]] is Overlap.WITHIN
    assert kinds[half["id"], odd["id"]] is Overlap.PARTLY
    assert series.gaps == []


def test_of_two_for_one_period_the_last_goes_on() -> None:
    """The other is told of."""
    again = Q1 | {"id": "again", "uploaded_at": START + timedelta(days=1)}
    [series] = arranged([again, Q2, Q1])
    assert series.pairs == [(again, Q2)]
    assert series.overlaps == [(Q1, again, Overlap.SAME)]


def test_a_name_is_its_words() -> None:
    """Quotes, case, ё and the place of the legal form do not matter."""
    assert words_of("ООО «Липовый мёд»") == words_of("липовый мед  ООО")
    assert words_of(None) == ""
