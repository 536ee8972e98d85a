"""`make test-lite`: chapters of the built website, run to the end by Pyodide in Chromium.

The website is tested as it will be published, down to the address of Pyodide's packages: the browser's requests to that one
address are answered with packages that were put together from PyPI, and every other request that leaves the machine fails.
Not a part of `make test`, which stays quick: a chapter takes a minute here, most of it to start Python.
"""

import os
import time
from pathlib import Path
from urllib.parse import urlsplit

import lite
import nbformat
import pytest
from anywhere import is_setup
from chromium import chromium
from manuscript import CHAPTERS, ROOT, code_cells, key, read_notebook
from pyodide_offline import LOCK, assemble
from support.browser import AXE, LOOK, WIDTHS, axe_core, served

SITE = ROOT / "_build" / "html"
WANTED = os.environ.get("LITE_CHAPTERS", "").split() or ["02", "04", "08"]
OPENED = "() => window.jupyterapp?.shell.currentWidget?.content?.model?.cells?.length > 3"
RUN = """async () => {
  const panel = jupyterapp.shell.currentWidget;
  await panel.context.ready;
  await panel.sessionContext.ready;
  await jupyterapp.commands.execute('notebook:run-all-cells');
  return JSON.stringify(panel.content.model.toJSON());
}"""


@pytest.fixture(scope="module")
def address():
    """The built website, served on this machine."""
    if not (SITE / "lite").is_dir():
        pytest.fail("there is no JupyterLite in _build/html: run `make lite` first")
    with served(SITE) as address:
        yield address


@pytest.fixture(scope="module")
def browser(address):
    """A window that reaches the website and packages of this machine, and nothing else; it notes what it refused."""
    packages = assemble(ROOT / "_build" / "pyodide", SITE / "lite" / "static" / "pyodide")
    refused = []

    def answer(route):
        url = route.request.url
        file = packages / Path(urlsplit(url).path).name
        if url.startswith(lite.PACKAGES) and file.is_file():
            route.fulfill(path=file, headers={"Access-Control-Allow-Origin": "*"})
        else:
            refused.append(url)
            route.abort()

    def open_to_scripts(route):  # so that the test can run cells and read their outputs
        found = route.fetch()
        settings = found.json()
        settings["jupyter-config-data"]["exposeAppInBrowser"] = True
        route.fulfill(response=found, json=settings)

    with chromium() as alone:
        window = alone.new_context()
        window.refused = refused
        window.route(lambda url: url.startswith("http") and not url.startswith(address), answer)
        window.route("**/lite/jupyter-lite.json", open_to_scripts)
        window.route(f"**/{LOCK}", lambda route: route.fulfill(path=packages / LOCK))
        yield window


def texts(notebook):
    """(code, text) of each cell but the setup: what it prints and shows, a figure as its place only."""
    for cell in code_cells(notebook):
        if is_setup(cell):
            continue
        text = ""
        for output in cell.outputs:
            if output.output_type == "stream":
                text += output.text if output.name == "stdout" else ""
            elif "data" in output:
                figure = any(kind.startswith("image/") for kind in output.data)
                text += "[figure]" if figure else output.data.get("text/plain", "") + "\n"
        yield cell.source, text


@pytest.mark.parametrize("path", [path for path in CHAPTERS if key(path) in WANTED], ids=lambda path: path.stem)
def test_chapter_runs_in_the_browser(browser, address, path):
    """From the button on the chapter's page: every cell runs, none fails, and what they print is what the book prints.

    A chapter whose code asks for OpenDP or for the browser, to leave something out there, may print something else.
    """
    tab = browser.new_page()
    tab.set_default_timeout(15 * 60_000)
    tab.goto(f"{address}notebooks/{path.stem}.html")
    begun = time.perf_counter()
    tab.click("a.run-in-browser")
    tab.wait_for_function(OPENED)
    ran = nbformat.reads(tab.evaluate(RUN), as_version=4)
    seconds = time.perf_counter() - begun
    tab.close()
    failed = [output for cell in ran.cells for output in cell.get("outputs", []) if output.output_type == "error"]
    assert not failed, "\n".join(failed[0].traceback)
    counts = [cell.execution_count for cell in code_cells(ran)]
    assert counts == list(range(1, len(counts) + 1))
    book = read_notebook(path)
    differ = [(code, b, a) for (code, a), (_, b) in zip(texts(book), texts(ran), strict=True) if a != b]
    leaves_out = any(word in code for code, _ in texts(book) for word in ("opendp", "emscripten"))
    assert leaves_out or not differ, "\n".join(f"{code}\n<< browser\n{b}\n>> book\n{a}" for code, b, a in differ)
    assert browser.refused == []
    print(f"{path.stem}: {len(counts)} cells in {seconds:.0f} s, {len(differ)} print something else")


@pytest.mark.parametrize("width", WIDTHS.values(), ids=WIDTHS.keys())
def test_the_button_is_in_nobodys_way(browser, address, width):
    """With the button, a page is no wider than the window, asks nobody else, and axe-core finds nothing wrong."""
    tab = browser.new_page()
    tab.emulate_media(reduced_motion="reduce")
    tab.set_viewport_size({"width": width, "height": 900})
    tab.goto(f"{address}notebooks/{CHAPTERS[0].stem}.html")
    assert tab.locator("a.run-in-browser").is_visible() and tab.evaluate(LOOK)["overflow"] <= 0
    tab.evaluate(axe_core())
    assert tab.evaluate(AXE) == [] and browser.refused == []
    tab.close()


LOAD = """async ([address, packageBaseUrl]) => {
  const { loadPyodide } = await import(`${address}lite/static/pyodide/pyodide.mjs`);
  const python = await loadPyodide({ packageBaseUrl });
  await python.loadPackage('micropip');
  return Object.keys(python.loadedPackages);
}"""


@pytest.mark.parametrize("change", [b"", b"!"], ids=["as in the lock", "one byte more"])
def test_a_package_that_was_changed_is_refused(browser, address, change):
    """Pyodide loads a package whose file has the hash of the site's lock, and no other file in its place."""
    tab = browser.new_page()
    file = next((ROOT / "_build" / "pyodide").glob("micropip-*.whl"))
    answer = {"body": file.read_bytes() + change, "headers": {"Access-Control-Allow-Origin": "*"}}
    tab.route(f"{lite.PACKAGES}{file.name}", lambda route: route.fulfill(**answer))
    tab.goto(f"{address}lite/static/pyodide/LICENSE.txt")  # a page without a policy and without scripts of its own
    assert ("micropip" in tab.evaluate(LOAD, [address, lite.PACKAGES])) == (not change)
    tab.close()


def test_the_website_has_these_chapters():
    """What is tested here is of this state of the book. If not: run `make lite`."""
    for path in CHAPTERS:
        assert (SITE / "lite" / "files" / path.name).read_text(encoding="utf-8") == lite.for_the_browser(path), path.name
