"""The samples are what their generator writes, and each ends as `samples/README.md` says."""

import json
import zipfile
from pathlib import Path
from uuid import uuid4

import jsonschema_rs
import pytest

from armka.contract.codec import decode_result, encode
from armka.contract.fields import ServiceInfo
from armka.contract.result import ResultFile, SourceFile
from armka.contract.schema_files import RESULT, load
from armka.contract.vocabulary import ErrorCode
from armka.sdk.handler import Refused
from armka.services.tabular_parser import NAME, VERSION
from armka.services.tabular_parser.recognise import recognise
from tests.books.recognised import source_of
from tests.books.samples import FOLDER, SAMPLES, Sample
from tests.pages.scans import SCANS

EACH = pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)


def content(path: Path) -> object:
    """The file without what a zip library may do differently; its members where it is a zip."""
    if not zipfile.is_zipfile(path):
        return path.read_bytes()
    with zipfile.ZipFile(path) as package:
        return {name: package.read(name) for name in package.namelist()}


@EACH
def test_a_sample_is_what_the_generator_writes(tmp_path, sample: Sample):
    sample.write(tmp_path / sample.name)
    assert content(tmp_path / sample.name) == content(FOLDER / sample.name)


@EACH
def test_a_sample_ends_as_it_should(sample: Sample):
    source = source_of(FOLDER / sample.name)
    if sample.ends in set(ErrorCode):
        with pytest.raises(Refused) as refused:
            recognise(source)
        assert refused.value.code == sample.ends
    else:
        recognition = recognise(source)
        assert ("needs_check" if recognition.needs_check else "done") == sample.ends
        assert tuple(len(document.lines) for document in recognition.documents) == sample.lines


@pytest.mark.parametrize(
    "sample", [sample for sample in SAMPLES if sample.lines], ids=lambda sample: sample.name
)
def test_what_was_read_is_a_valid_result_file(sample: Sample):
    source = source_of(FOLDER / sample.name)
    recognition = recognise(source)
    result = ResultFile(
        schema_version="1.0",
        job_id=str(uuid4()),
        file_id=str(uuid4()),
        service=ServiceInfo(name=NAME, version=VERSION),
        created_at="2025-01-01T00:00:00Z",
        source=SourceFile(
            sha256=source.sha256, size_bytes=source.size_bytes, file_type=source.file_type
        ),
        group_schema=recognition.documents[0].group_schema,
        documents=list(recognition.documents),
        warnings=list(recognition.warnings),
    )
    body = encode(result)
    schema = jsonschema_rs.validator_for(load(RESULT), validate_formats=True)
    schema.validate(json.loads(body))
    assert decode_result(body) == result
    assert list(result.problems()) == []


def test_the_readme_tells_of_every_file_and_of_no_other():
    told = {
        line.split("`")[1]
        for line in (FOLDER / "README.md").read_text(encoding="utf-8").splitlines()
        if line.startswith("| `")
    }
    there = {path.name for path in FOLDER.iterdir()} - {"README.md"}
    assert told == there == {it.name for it in SAMPLES} | {it.name for it in SCANS}
