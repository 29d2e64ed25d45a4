"""Generated pages are fresh."""

import subprocess
import sys


def test_the_settings_page_is_what_the_code_says(root):
    command = [sys.executable, root / "tools/reference.py"]
    fresh = subprocess.run(
        command, check=True, stdout=subprocess.PIPE, text=True, timeout=60
    ).stdout

    assert (root / "docs/reference/settings.md").read_text() == fresh, "run `make reference`"


def test_every_setting_says_what_it_means(root):
    rows = (root / "docs/reference/settings.md").read_text().splitlines()
    settings = [row for row in rows if row.startswith("| `")]

    assert settings
    assert [row for row in settings if row.endswith("|  |")] == []
