"""Quizzes: a few good questions for each chapter, every option explained."""

import pytest
from manuscript import CHAPTERS, key, quiz_path, read_quiz

QUIZZES = sorted(quiz_path("01").parent.glob("*.toml"))


@pytest.mark.parametrize("path", QUIZZES, ids=lambda path: path.stem)
def test_a_quiz_has_three_to_six_questions_with_one_right_option_each(path):
    """Three to five options a question, one of them right, each with a text and an explanation that differ."""
    assert 3 <= len(read_quiz(path.stem)) <= 6
    for question in read_quiz(path.stem):
        assert set(question) == {"ask", "option"} and 3 <= len(question["option"]) <= 5, question["ask"]
        assert [option.get("right", False) for option in question["option"]].count(True) == 1, question["ask"]
        for option in question["option"]:
            assert set(option) <= {"text", "right", "why"} and len(option["why"]) > 20
        for field in ("text", "why"):
            assert len({option[field] for option in question["option"]}) == len(question["option"])


@pytest.mark.parametrize("path", QUIZZES, ids=lambda path: path.stem)
def test_the_place_and_length_of_an_option_do_not_give_it_away(path):
    """The right option is not in the same place in all questions of a quiz, nor the longest in all."""
    options = [question["option"] for question in read_quiz(path.stem)]
    places = {next(i for i, option in enumerate(row) if option.get("right")) for row in options}
    longest = [max(row, key=lambda option: len(option["text"])).get("right", False) for row in options]
    assert len(places) > 1 and not all(longest)


def test_each_chapter_has_a_quiz():
    """A quiz is named by the number of its chapter, and every chapter has one."""
    assert {path.stem for path in QUIZZES} == {key(path) for path in CHAPTERS}
