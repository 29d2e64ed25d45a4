"""What comes of a job: the result file, and then its envelope (C2, C4.1, §2b)."""

from armka.conformance.findings import Contradicted
from armka.conformance.service.asked import Asked
from armka.conformance.service.check import check
from armka.conformance.service.proxy import Kind
from armka.conformance.service.surface import Surface
from armka.conformance.service.target import Need
from armka.contract import codec
from armka.contract.codec import InvalidMessage
from armka.contract.result import ResultFile


@check("C2 C4.1", Need.DOCUMENT)
async def every_file_is_recognised(surface: Surface) -> None:
    """Each file that the service is said to read ends done or needs_check, its result file where
    the contract wants it: result_s3 says so, and the object is there.
    """
    for document in surface.target.documents:
        asked = await surface.ask(document)
        end = await surface.recognised(asked)
        place = {"bucket": asked.bucket, "key": asked.result_key}
        surface.expect(f"{asked}: result_s3", place, end.fields.get("result_s3"))
        version = end.fields.get("result_schema_version")
        surface.judge("result_schema_version", str(version).startswith("1."), version)
        await surface.result_file(asked)


@check("C4.1", Need.DOCUMENT)
async def the_result_file_precedes_its_envelope(surface: Surface) -> None:
    """With the write of the result file held up no envelope comes; the write has succeeded before
    the envelope is heard.
    """
    asked = await surface.prepare()
    with surface.proxy.holding(Kind.WRITE, asked.result_key):
        await surface.send(asked)
        await surface.acked(asked)
        await surface.comes(
            f"{asked}: a write of {asked.result_key}",
            lambda: surface.writes(asked) or surface.ends(asked),
            lambda: surface.of(asked),
        )
        await surface.stays(
            f"{asked}: no result while its file is not written",
            lambda: not surface.ends(asked),
            lambda: surface.ends(asked),
        )
    end = await surface.recognised(asked)
    done = [one.ended for one in surface.writes(asked) if one.succeeded and one.ended is not None]
    before = [number for number in done if number < end.n]
    surface.judge(
        f"{asked}: its file is written before its envelope", before, surface.writes(asked)
    )


@check("§2b C3", Need.DOCUMENT)
async def the_result_file_keeps_its_schema(surface: Surface) -> None:
    """The result file of each file passes recognition-result.schema.json, and says which job, file
    and service it is of, and which bytes were read.
    """
    for document in surface.target.documents:
        asked = await surface.ask(document)
        end = await surface.recognised(asked)
        result = _read(await surface.result_file(asked))
        surface.expect("its job_id", asked.job_id, result.job_id.lower())
        surface.expect("its file_id", asked.file_id, result.file_id.lower())
        named = {"name": result.service.name, "version": result.service.version}
        surface.expect("its service, as the envelope says", end.fields.get("service"), named)
        _expect_source(surface, asked, result)


def _expect_source(surface: Surface, asked: Asked, result: ResultFile) -> None:
    source = result.source
    surface.expect("source.sha256", asked.sha256, source.sha256)
    surface.expect("source.size_bytes", len(asked.document.content), source.size_bytes)
    surface.expect("source.file_type", asked.document.file_type, source.file_type)
    surface.expect("group_schema", result.documents[0].group_schema, result.group_schema)


def _read(body: bytes) -> ResultFile:
    expected = "the result file passes recognition-result.schema.json"
    try:
        result = codec.decode_result(body)
    except InvalidMessage as error:
        raise Contradicted(expected, f"{error}: {body[:300]!r}") from None
    problem = next(result.problems(), None)
    if problem is not None:
        raise Contradicted("the result file holds together", problem)
    return result


@check("C2 C4.4", Need.DOCUMENT)
async def a_job_has_one_result(surface: Surface) -> None:
    """One `processing`, one write of the result file, one result; then silence."""
    asked = await surface.ask()
    await surface.recognised(asked)
    await surface.stays(
        f"{asked}: nothing after its result",
        lambda: len(surface.of(asked)) == 2,  # noqa: PLR2004 - the ack and the result
        lambda: surface.of(asked),
    )
    surface.expect(f"{asked}: writes of its result file", 1, len(surface.writes(asked)))


@check("C2", Need.DOCUMENT)
async def group_schema_stays_in_the_result_file(surface: Surface) -> None:
    """The envelope does not bear group_schema: its source is the result file."""
    asked = await surface.ask()
    end = await surface.recognised(asked)
    surface.judge("no group_schema in the envelope", "group_schema" not in end.fields, end.fields)


@check("C2 C3")
async def envelopes_keep_their_schema(surface: Surface) -> None:
    """`processing`, a result, an error and a SCHEMA_MISMATCH pass
    recognition-result-message.schema.json, on the subject of the results.
    """
    good, missing = await surface.ask(), await surface.ask(stored=False)
    invalid = await surface.ask(stored=False, file_type="DOCX")
    await surface.ended(good)
    await surface.ended(missing)
    await surface.comes(f"{invalid}: an answer", lambda: surface.of(invalid))
    for heard in [*surface.of(good), *surface.of(missing), *surface.of(invalid)]:
        try:
            codec.decode_envelope(heard.body)
        except InvalidMessage as error:
            seen = f"{error}: {heard.body[:500].decode(errors='replace')}"
            raise Contradicted("the envelope passes its schema", seen) from None


@check("I8", Need.CORE, Need.ANSWERS)
async def an_unanswered_result_comes_again(surface: Surface) -> None:
    """A result is sent with a reply subject, and without an answer again: the same body under the
    same id. Once it is answered it comes no more.
    """
    surface.wire.answering = False
    try:
        asked = await surface.ask()
        first = await surface.ended(asked)
        surface.judge("the result asks for an answer", first.reply, "no reply subject")
        await surface.comes(
            f"{asked}: its result again",
            lambda: len(surface.ends(asked)) > 1,
            lambda: surface.of(asked),
        )
        again = surface.ends(asked)[1]
        surface.expect("the id of the repeat", first.msg_id, again.msg_id)
        surface.expect("the body of the repeat", first.body, again.body)
        await surface.wire.answer(again)
        heard = len(surface.ends(asked))
        await surface.stays(
            f"{asked}: silence after the answer",
            lambda: len(surface.ends(asked)) == heard,
            lambda: surface.ends(asked),
        )
    finally:
        surface.wire.answering = True
