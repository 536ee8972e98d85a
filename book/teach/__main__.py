"""`make teach`: everything that somebody needs who teaches with the book, in one folder and one zip.

pack: the folder · copy: a notebook for students or for instructors
"""

import argparse
import html
import shutil
import sys
from pathlib import Path

import nbformat
from _ext.offline import mathjax_files
from manuscript import ROOT, read_notebook, read_toml
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from take_along import make_zip
from tqdm import tqdm

from . import bank, copies, slides, words
from .labels import Book, read_book
from .plain import HEAD, plain, to_html

HERE = ROOT / "book" / "teach"
ZIP = "where-to-spend-epsilon-teaching.zip"
KINDS = ("student", "instructor")
PAGE = """<link rel="stylesheet" href="{up}assets/page.css">
<script defer src="{up}assets/mathjax/tex-chtml.js"></script>
</head>
<body>
<main>
{body}
</main>
</body>
</html>
"""


def make_pack(pack: Path) -> Book:
    """Write the pack anew."""
    book = read_book()
    shutil.rmtree(pack, ignore_errors=True)
    write_assets(pack)
    write_copies(pack, book)
    write_slides(pack, book)
    write_quizzes(pack / "quiz", book)
    write_pages(pack, book)
    shutil.copyfile(ROOT / "LICENSE", pack / "LICENSE")
    return book


def write_assets(pack: Path) -> None:
    """Reveal and MathJax with their licences, and the styles of pages and decks."""
    found = {f"reveal/{name}": path for name, path in slides.reveal_files().items()}
    found |= {f"mathjax/{name}": path for name, path in mathjax_files().items()}
    found |= {"mathjax/LICENSE.txt": ROOT / "book" / "licenses" / "mathjax.txt"}
    found |= {name: HERE / name for name in ("deck.js", "deck.css", "page.css")}
    for name, source in found.items():
        target = pack / "assets" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)


def write_copies(pack: Path, book: Book) -> None:
    """The two folders of notebooks, each with the helpers beside them, so that either can be handed out as it is."""
    project = read_toml(ROOT / "pyproject.toml")["project"]
    groups = [project["dependencies"], *project["optional-dependencies"].values(), ["jupyterlab"]]
    needs = [package for group in groups for package in group]
    for kind in KINDS:
        shutil.copytree(ROOT / "helpers", pack / kind / "helpers", ignore=shutil.ignore_patterns("__pycache__"))
        (pack / kind / "requirements.txt").write_text("\n".join(needs) + "\n", encoding="utf-8")
    for chapter in book.chapters:
        teacher = copies.instructor(chapter, book)
        for kind, copy in zip(KINDS, (copies.student(teacher), teacher), strict=True):
            nbformat.validate(copy)
            (pack / kind / chapter.path.name).write_text(nbformat.writes(copy) + "\n", encoding="utf-8")


def write_slides(pack: Path, book: Book) -> None:
    folder = pack / "slides"
    for count, (part, chapters) in enumerate(book.parts.items(), start=1):
        deck = slides.deck(part, chapters, book, folder / "figures")
        (folder / f"part-{count}.html").write_text(deck, encoding="utf-8")


def write_quizzes(folder: Path, book: Book) -> None:
    folder.mkdir(parents=True)
    (folder / "quiz-bank.gift").write_text(bank.as_gift(book), encoding="utf-8")
    for name, answers in (("quiz-bank", True), ("quiz-sheet", False)):
        text = bank.as_markdown(book, answers)
        (folder / f"{name}.md").write_text(text, encoding="utf-8")
        write_page(folder / f"{name}.html", text, up="../")


def write_pages(pack: Path, book: Book) -> None:
    """The guide, the rubric, the outcomes, the glossary and the notation, and a page that leads to everything."""
    texts = {name: plain(text, book, links=False) for name, text in pages(book).items()}
    for path in sorted((ROOT / "book" / "locale").glob("*.po")):
        glossary = words.glossary_markdown(words.read_translation(path))
        translated = plain(f"# {path.stem}\n\n{glossary}", book, links=False)
        write_page(pack / f"glossary-{path.stem}.html", translated, language=path.stem)
    for name, text in texts.items():
        write_page(pack / f"{name}.html", text)
    (pack / "rubric.md").write_text(texts["rubric"] + "\n", encoding="utf-8")
    (pack / "translate").mkdir()
    (pack / "translate" / "glossary.pot").write_bytes(words.template())
    decks = [f"- [Slides: {part}](slides/part-{count}.html)" for count, part in enumerate(book.parts, start=1)]
    contents = (HERE / "contents.md").read_text(encoding="utf-8").replace("<!-- decks -->", "\n".join(decks))
    write_page(pack / "index.html", contents)


def pages(book: Book) -> dict[str, str]:
    """The pages of the pack in the book's own Markdown; the generated parts stand where the website puts them too."""
    found = {name: HERE / f"{name}.md" for name in ("guide", "outcomes", "adopt", "rubric")}
    found |= {"glossary": ROOT / "book" / "glossary.md", "notation": words.NOTATION}
    texts = {name: path.read_text(encoding="utf-8") for name, path in found.items()}
    made = {"outcomes": words.outcomes_markdown(book), "rubric": words.rubric_markdown(book)}
    for name, text in (made | {"glossary": words.glossary_markdown()}).items():
        texts[name] = texts[name].replace(f"<!-- {name} -->", text)
    return texts


def write_page(path: Path, markdown: str, up: str = "", language: str = "en") -> None:
    title = next(line.removeprefix("# ") for line in markdown.splitlines() if line.startswith("# "))
    page = (HEAD + PAGE).format(title=html.escape(title.replace("*", "")), up=up, body=to_html(markdown), language=language)
    path.write_text(page, encoding="utf-8")


def run(path: Path) -> None:
    """Execute a copy where it lies, with the helpers beside it; its stored outputs stay as they are."""
    NotebookClient(read_notebook(path), resources={"metadata": {"path": str(path.parent)}}).execute()


def main() -> int:
    parser = argparse.ArgumentParser(description="Make the instructor's pack.")
    parser.add_argument("--build", type=Path, default=ROOT / "_build", help="the folder to write teach/ and the zip into")
    parser.add_argument("--run", action="store_true", help="also execute every copy, which takes some minutes")
    args = parser.parse_args()
    pack = args.build / "teach"
    make_pack(pack)
    make_zip(pack, args.build / ZIP)  # before running, which leaves files behind
    failed = []
    for path in tqdm(sorted(pack.glob("*/*.ipynb")) if args.run else [], unit="notebook", disable=None):
        try:
            run(path)
        except CellExecutionError as error:
            failed.append(f"{path.relative_to(pack)}: a cell failed.\n{error}")
    print(f"The instructor's pack is ready: open {pack / 'index.html'} in a browser, or pass on {args.build / ZIP}")
    for message in failed:
        print(message, file=sys.stderr)
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
