"""The rest of the instructor's pack: slides that open anywhere, quizzes, outcomes, glossary, guide; and the whole."""

import re
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from zipfile import ZipFile

import pytest
from babel.messages.pofile import read_po, write_po
from bs4 import BeautifulSoup
from manuscript import ROOT, in_one_text
from take_along import make_zip
from teach import __main__ as pack_maker
from teach import bank, copies, words
from teach.labels import read_book

BOOK = read_book()
QUESTIONS = [question for chapter in BOOK.chapters for question in bank.read_quiz(chapter)]
EXERCISES = {label: one for chapter in BOOK.chapters for label, one in copies.exercises(chapter, BOOK).items()}
GUIDE = (ROOT / "book" / "teach" / "guide.md").read_text(encoding="utf-8")


# The slides

VISIT = """async () => {
  const seen = [];
  for (const slide of Reveal.getSlides()) {
    const at = Reveal.getIndices(slide);
    Reveal.slide(at.h, at.v);
    await new Promise(done => requestAnimationFrame(done));
    const body = slide.querySelector('.body'), images = [...slide.querySelectorAll('img')];
    await Promise.all(images.map(image => image.decode()));
    seen.push({
      title: slide.querySelector('h1, h2').textContent,
      bottom: body ? body.offsetTop + body.offsetHeight : 0,
      wide: [...slide.querySelectorAll('p, li, img, table, pre, mjx-math')]
        .some(tag => tag.getBoundingClientRect().right > innerWidth),
      size: body ? parseFloat(getComputedStyle(body).fontSize) : 30,
      raw: /\\\\[(\\[]|\\$/.test(body ? body.innerText : ''),
      described: images.every(image => image.alt.length > 20 && image.naturalWidth > 100),
    });
  }
  return seen;
}"""


@pytest.mark.parametrize("count", range(1, len(BOOK.parts) + 1))
def test_decks_open_from_the_file_system(pack, browser, count):
    """A deck opens without network or complaint, its keys work, and every slide fits, with formulas and figures drawn."""
    trouble = []
    tab = browser.new_page(viewport={"width": 1280, "height": 720})
    tab.on("console", lambda message: trouble.append(message.text))
    tab.on("pageerror", lambda error: trouble.append(str(error)))
    tab.on("requestfailed", lambda request: trouble.append(request.url))
    tab.on("request", lambda request: request.url.startswith(("file:", "data:")) or trouble.append(request.url))
    tab.goto((pack / "slides" / f"part-{count}.html").as_uri())
    tab.wait_for_selector("body[data-ready]")
    tab.keyboard.press("Space")
    assert tab.evaluate("Reveal.getIndices().h") == 1
    tab.keyboard.press("ArrowLeft")
    assert tab.evaluate("Reveal.getIndices().h") == 0
    seen = tab.evaluate(VISIT)
    assert tab.evaluate("document.querySelectorAll('mjx-merror').length") == 0
    tab.close()
    assert trouble == []
    for slide in seen:
        assert slide["bottom"] <= 720 and not slide["wide"] and slide["size"] >= 18, slide
        assert slide["described"] and not slide["raw"], slide


def test_decks_have_what_a_lecture_needs(pack):
    """Each chapter has its objectives, statements, figures and summary on slides, in the deck of its part."""
    for count, chapters in enumerate(BOOK.parts.values(), start=1):
        deck = BeautifulSoup((pack / "slides" / f"part-{count}.html").read_text(encoding="utf-8"), "html.parser")
        for chapter in chapters:
            column = deck.find(id=f"chapter-{chapter.number}")
            source = in_one_text(chapter.notebook)
            figures = [cell for cell in chapter.notebook.cells if "figure" in cell.metadata.get("mystnb", {})]
            assert len(column.select("section.opening")) == len(column.select("section.summary")) == 1
            assert len(column.select("section.picture img")) == len(figures)
            assert len(column.select("section.statement")) == len(re.findall(r"\{prf:(?!ref|proof)\w+\}", source))


# Quizzes, rubric, outcomes


def unescaped(text):
    return re.sub(r"\\([~=#{}:])", r"\1", text).replace("&#92;", "\\")


def in_html(text):
    return " ".join(bank.to_html(text).split())


def test_gift_carries_every_question():
    """Read back, the export has each question with its options, one of them right, and an explanation for each."""
    found = re.findall(r"^::([\w-]+)::\[html\](.*) \{\n((?:[=~].*\n)+)\}$", bank.as_gift(BOOK), re.MULTILINE)
    assert [name for name, _, _ in found] == [question.name for question in QUESTIONS] and QUESTIONS
    for (_, ask, options), question in zip(found, QUESTIONS, strict=True):
        assert unescaped(ask) == in_html(question.ask)
        rows = [re.fullmatch(r"([=~])(.*?)(?<!\\)#(.*)", line) for line in options.splitlines()]
        assert [row[1] == "=" for row in rows] == [option.right for option in question.options]
        for row, option in zip(rows, question.options, strict=True):
            assert (unescaped(row[2]), unescaped(row[3])) == (in_html(option.text), in_html(option.why))


def test_the_sheet_gives_no_answer_away():
    """The bank explains every option; the sheet has the same questions and options, and no explanation."""
    full, sheet = bank.as_markdown(BOOK), bank.as_markdown(BOOK, answers=False)
    for question in QUESTIONS:
        assert question.ask in full and question.ask in sheet
        assert all(option.text in full and option.text in sheet for option in question.options)
        assert all(option.why in full and option.why not in sheet for option in question.options)
    assert "✓" in full and "✓" not in sheet


def test_the_rubric_has_every_exercise():
    """A row for each exercise, with points and what to look for."""
    rows = [row for row in words.rubric_markdown(BOOK).splitlines() if re.match(r"\| \d", row)]
    assert len(rows) == len(EXERCISES)
    assert all(one.points >= 1 and len(one.marking) > 20 for one in EXERCISES.values())


def test_outcomes_cover_the_book():
    """Each chapter and each exercise leads to an outcome, and each outcome has chapters and exercises that exist."""
    mapped = words.mapped(BOOK)
    chapters = {words.chapter_label(chapter) for chapter in BOOK.chapters}
    assert {label for row in mapped.values() for label in row["chapters"]} == chapters
    assert {one.label for row in mapped.values() for one in row["exercises"]} == {*EXERCISES}
    assert all(row["exercises"] and row["text"].endswith(".") for row in mapped.values())


# The glossary


def test_glossary_entries_are_one_sentence_each():
    """Between 40 and 80 terms, each with one sentence and a chapter that exists; no term twice."""
    terms = words.read_toml(words.GLOSSARY)
    assert 40 <= len(terms) <= 80 and len({row["term"] for row in terms.values()}) == len(terms)
    for key, row in terms.items():
        assert re.fullmatch(r"[a-z0-9-]+", key) and set(row) == {"term", "means", "chapter"}
        assert row["means"].endswith(".") and not re.search(r"\. [A-Z]", row["means"]), key
        assert BOOK.places[row["chapter"]].stem, key


def test_translators_get_every_text():
    """The template has each term, meaning and symbol once, under a key of its own, and is the same on every day."""
    catalogue = read_po(BytesIO(words.template()))
    wanted = {(context, text) for context, text, _ in words.messages()}
    assert {(message.context, message.id) for message in catalogue if message.id} == wanted
    assert len(wanted) == len({context for context, _ in wanted}) > 130
    assert words.template() == words.template() and b"-Date" not in words.template()


def test_a_translation_becomes_a_glossary(tmp_path):
    """What a translator fills in replaces the English text; what is missing stays English."""
    catalogue = read_po(BytesIO(words.template()), locale="de")
    catalogue.get("block", "block.term").string = "Zählblock"
    with open(tmp_path / "de.po", "wb") as file:
        write_po(file, catalogue)
    text = words.glossary_markdown(words.read_translation(tmp_path / "de.po"))
    assert "Zählblock\n: The smallest area" in text and "\nblock\n" not in text and "\nclipping\n" in text


# The guide, and the pack as a whole


def test_the_minutes_of_a_plan_add_up():
    """Every plan runs from 0 to 75 or 90 without a gap."""
    plans = re.findall(r"\| minutes \|.*\n\|[-|: ]+\|\n((?:\|.*\n)+)", GUIDE)
    assert len(plans) == 5
    for rows in plans:
        plan = [tuple(map(int, re.match(r"\| (\d+)–(\d+) \|", row).groups())) for row in rows.splitlines()]
        assert plan[0][0] == 0 and plan[-1][1] in (75, 90)
        assert all(end == start for (_, end), (start, _) in pairwise(plan))


def test_the_guide_names_sections_that_exist():
    """Each section that the guide sends a reader to is a heading of that chapter."""
    by_label = {words.chapter_label(chapter): chapter for chapter in BOOK.chapters}
    named = re.findall(r'(?:chapter (\d+)|\{ref\}`(chapter-[\w-]+)`)((?:[^"|.{\n]{1,12}"[^"]+")+)', GUIDE)
    assert len(named) > 20
    for number, label, quoted in named:
        chapter = by_label[label] if label else BOOK.chapters[int(number) - 1]
        headings = re.findall(r"^##+ (.+)$", in_one_text(chapter.notebook), re.MULTILINE)
        assert set(re.findall(r'"([^"]+)"', quoted)) <= set(headings), (chapter.stem, quoted)


def test_misconceptions_are_met():
    """At least eight misconceptions, each with what helps and where it is."""
    section = GUIDE.partition("## What students get wrong")[2].partition("\n## ")[0]
    entries = re.findall(r'^\*\*"(.+?)"\*\* (.+)$', section, re.MULTILINE)
    assert len(entries) >= 8
    assert all("→ {ref}`" in text and len(text) > 80 for _, text in entries)


def test_the_pack_is_whole(pack, tmp_path):
    """Every link of its pages leads to a file in it, nothing is loaded from elsewhere, and the zip has all of it."""
    for page in pack.rglob("*.html"):
        soup = BeautifulSoup(page.read_text(encoding="utf-8"), "html.parser")
        used = [tag.get("src") or tag.get("href") for tag in soup.find_all(["script", "link", "img"])]
        assert not [address for address in used if re.match(r"https?:|//", address)]
        linked = [tag["href"] for tag in soup.find_all("a") if not re.match(r"https?:|#", tag["href"])]
        for address in [address for address in used + linked if not address.startswith("data:")]:
            assert (page.parent / address).is_file(), (page.name, address)
    assert {"LICENSE", "LICENSE.txt"} <= {path.name for path in (pack / "assets").rglob("LICENSE*")}
    make_zip(pack, tmp_path / pack_maker.ZIP)
    names = {Path(name).relative_to(Path(pack_maker.ZIP).stem) for name in ZipFile(tmp_path / pack_maker.ZIP).namelist()}
    assert names == {path.relative_to(pack) for path in pack.rglob("*") if path.is_file()}
