"""`make pdf` and `make zip`: the built website as one PDF and as one zip that opens from the file system.

    site: folder of the built pages · page: a page by its name in the table of contents, like notebooks/01-…

Both are made from the finished pages, so they have the website's numbers, links and figures. Sphinx could write one long
page itself (singlehtml), but there a link to "Summary" leads to the summary of whichever chapter comes first.
"""

import argparse
import os
import re
import shutil
import sys
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit
from zipfile import ZIP_DEFLATED, ZipFile

from bs4 import BeautifulSoup, Tag
from chromium import CHROMIUM, chromium
from manuscript import ROOT, toc_pages, toc_parts

PDF, ZIP = "where-to-spend-epsilon.pdf", "where-to-spend-epsilon-site.zip"
PLACE = "<!-- take-along -->"  # where the pages want their links to the PDF and the zip: see extra_footer in _config.yml
PAPER: dict[str, Any] = {"format": "A4", "margin": {"top": "18mm", "bottom": "20mm", "left": "20mm", "right": "20mm"}}
FOOTER = '<div style="width: 100%; font: 8pt sans-serif; text-align: center"><span class="pageNumber"></span></div>'
# Names, brackets and spaces in code have no colour of their own: as tags they would be a third of the PDF.
PLAIN = re.compile(r'<span class="[npw]">([^<]*)</span>')

# Draw the formulas; then make whatever is wider than the paper (a table, a long formula) as much smaller as it has to be.
FIT = """async () => {
  await MathJax.startup.promise;
  await Promise.all([...document.images].map(image => image.decode()));
  const paper = document.querySelector('article').getBoundingClientRect().right;
  for (const wide of document.querySelectorAll('table, mjx-container[display] > mjx-math')) {
    const box = wide.getBoundingClientRect();
    if (box.right > paper) wide.style.zoom = (paper - box.left) / box.width;
  }
}"""


def place(page: str, anchor: str = "") -> str:
    """The id, in the one long page, of an anchor of one of the pages, or of the page itself."""
    return page.replace("/", "-") + (f"--{anchor}" if anchor else "")


def one_page(site: Path, folder: Path) -> str:
    """All pages in the order of the book, as one page that is to lie in `folder`."""
    pages = toc_pages()
    files = {(site / f"{page}.html").resolve(): page for page in pages}
    articles = []
    for file, page in files.items():
        whole = BeautifulSoup(PLAIN.sub(r"\1", file.read_text(encoding="utf-8")), "html.parser")
        localise(whole, file, page, files, folder)
        articles.append(first(whole, "article"))
        articles[-1]["id"] = place(page)
        if page == pages[0]:
            book = whole  # its head serves the whole book
    for script in book.find_all("script"):
        if "MathJax" not in script.text and "mathjax" not in str(script.get("src", "")):
            script.decompose()  # buttons, menus and folded boxes are for a screen
    html, body = first(book, "html"), first(book, "body")
    html["data-theme"] = html["data-mode"] = "light"
    body.clear()
    body["class"] = "bd-content whole-book"
    titles = dict(zip(pages, (first(article, "h1").text for article in articles), strict=True))
    body.extend([articles[0], contents(titles), *articles[1:]])
    return str(book)


def first(whole: Tag, name: str) -> Tag:
    """The first tag of a name in a page that has it."""
    return whole.find_all(name, limit=1)[0]


def localise(whole: Tag, file: Path, page: str, files: dict[Path, str], folder: Path) -> None:
    """Let ids, links and files of a page mean the same when the page is a part of a longer one in another folder."""
    for mark in whole.find_all(class_="headerlink"):
        mark.decompose()  # else the PDF's outline says "Summary#"
    for tag in first(whole, "article").find_all(id=True):
        if not tag.find_parent("svg"):
            tag["id"] = place(page, str(tag["id"]))
    for fold in whole.find_all("details"):
        fold["open"] = ""
    for name in ("href", "src"):
        for tag in whole.find_all(None, {name: True}):
            link = urlsplit(str(tag[name]))
            if link.scheme or link.netloc or tag.find_parent("svg"):
                continue
            target = (file.parent / unquote(link.path)).resolve() if link.path else file
            if tag.name != "a":
                tag[name] = os.path.relpath(target, folder.resolve())
            elif target in files:
                tag[name] = "#" + place(files[target], unquote(link.fragment))
            else:
                del tag[name]  # a file of the website, which a PDF does not have


def contents(titles: dict[str, str]) -> Tag:
    """A table of contents with links."""
    rows = "".join(
        f"<h2>{caption}</h2><ul>" + "".join(f'<li><a href="#{place(p)}">{titles[p]}</a></li>' for p in pages) + "</ul>"
        for caption, pages in toc_parts().items()
        if caption
    )
    whole = f'<article class="bd-article contents"><h1>Contents</h1>{rows}</article>'
    return first(BeautifulSoup(whole, "html.parser"), "article")


def make_pdf(site: Path, target: Path) -> None:
    """Print all pages of the site into one PDF, with Chromium."""
    target.parent.mkdir(parents=True, exist_ok=True)
    source = target.with_suffix(".html")
    source.write_text(one_page(site, source.parent), encoding="utf-8")
    with chromium() as browser:
        tab = browser.new_page(viewport={"width": 643, "height": 980})  # what the margins leave of a sheet, in CSS pixels
        tab.set_default_timeout(300_000)  # milliseconds: one page with the whole book is slow to load on a busy machine
        tab.emulate_media(media="print")
        tab.goto(source.resolve().as_uri())
        tab.evaluate(FIT)
        numbers: dict[str, Any] = {"display_header_footer": True, "header_template": "<p></p>", "footer_template": FOOTER}
        tab.pdf(path=target, outline=True, tagged=True, print_background=True, **PAPER, **numbers)
    source.unlink()


def make_zip(site: Path, target: Path) -> None:
    """Pack the site into one folder of a zip."""
    with ZipFile(target, "w", ZIP_DEFLATED) as pack:
        for file in sorted(site.rglob("*")):
            if file.is_file() and file.name not in (PDF, ZIP):
                pack.write(file, Path(target.stem) / file.relative_to(site))


def link(site: Path, made: Path, text: str) -> None:
    """Copy a file into the site, and link to it from the foot of every page."""
    shutil.copyfile(made, site / made.name)
    size = f"{made.stat().st_size / 1e6:.0f} MB"
    for page in site.rglob("*.html"):
        address = os.path.relpath(site / made.name, page.parent)
        html = page.read_text(encoding="utf-8")
        page.write_text(html.replace(PLACE, f'<a href="{address}">{text} ({size})</a> {PLACE}'), encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description="Make the whole book as a PDF, as a zip of the built website, or both.")
    parser.add_argument("what", nargs="+", choices=["pdf", "zip"])
    parser.add_argument("--build", type=Path, default=ROOT / "_build", help="the folder with html/, which `make book` wrote")
    args = parser.parse_args()
    site = args.build / "html"
    if "zip" in args.what:  # first: its pages have no links to files that are not in it
        make_zip(site, args.build / ZIP)
    if "pdf" in args.what:
        if CHROMIUM is None:
            print("Chromium, which prints the PDF, was not found: install `chromium` and try again.", file=sys.stderr)
            return 1
        make_pdf(site, args.build / "pdf" / PDF)
        link(site, args.build / "pdf" / PDF, "The book as a PDF")
        print(f"The PDF is ready: {args.build / 'pdf' / PDF}")
    if "zip" in args.what:
        link(site, args.build / ZIP, "This website as a zip")
        print(f"The zip is ready: {args.build / ZIP}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
