"""What tests of the book share: a copy of the project, the instructor's pack, and the explorers in a browser."""

import shutil

import pytest
from chromium import CHROMIUM, chromium
from manuscript import ROOT
from support.browser import NO_BROWSER
from support.explorers import page_of
from teach.__main__ import make_pack


@pytest.fixture
def project(tmp_path):
    """A copy of what recipes touch, and of what their tests need."""
    for name in "_toc.yml _config.yml pyproject.toml conftest.py README.md book helpers notebooks tests tools".split():
        whole = shutil.copytree if (ROOT / name).is_dir() else shutil.copyfile
        whole(ROOT / name, tmp_path / name)
    return tmp_path


@pytest.fixture(scope="session")
def pack(tmp_path_factory):
    """The instructor's pack."""
    folder = tmp_path_factory.mktemp("build") / "teach"
    make_pack(folder)
    return folder


@pytest.fixture(scope="module")
def browser():
    """Closed with the module: Playwright allows one at a time."""
    if CHROMIUM is None:
        pytest.skip(NO_BROWSER)
    with chromium() as browser:
        yield browser


@pytest.fixture
def play(browser, tmp_path):
    """play(name) opens an explorer in a window of its own; at the end of the test, no page may have complained."""
    errors = []

    def visit(name, **window):
        file = tmp_path / f"{name}.html"
        file.write_text(page_of(name), encoding="utf-8")
        page = browser.new_context(**window).new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda message: message.type == "error" and errors.append(message.text))
        page.goto(file.as_uri())
        page.wait_for_selector("svg")
        return page

    yield visit
    for context in browser.contexts:
        context.close()
    assert errors == []
