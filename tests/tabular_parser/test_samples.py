"""The samples are what their generator writes, and each ends as `samples/README.md` says."""

import zipfile
from pathlib import Path

import pytest

from armka.contract.vocabulary import ErrorCode
from armka.sdk.handler import Refused
from armka.services.tabular_parser.recognise import recognise
from tests.books.recognised import source_of
from tests.books.samples import FOLDER, SAMPLES, Sample

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


def test_the_readme_tells_of_every_file_and_of_no_other():
    told = {
        line.split("`")[1]
        for line in (FOLDER / "README.md").read_text(encoding="utf-8").splitlines()
        if line.startswith("| `")
    }
    there = {path.name for path in FOLDER.iterdir()} - {"README.md"}
    assert told == there == {sample.name for sample in SAMPLES}
