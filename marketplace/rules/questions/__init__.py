"""The XML of questions, answer keys and answers: reading, checking, grading, writing."""

from marketplace.rules.questions.answers import answers_xml, read_answers
from marketplace.rules.questions.documents import parse_question, parse_test
from marketplace.rules.questions.formatted import safe_html
from marketplace.rules.questions.frames import (
    LOCAL_HOSTS,
    PREVIEW_ASSIGNMENT,
    check_external_url,
    frame_url,
)
from marketplace.rules.questions.keys import AnswerKey, grade, parse_answer_key
from marketplace.rules.questions.shapes import ExternalQuestion, HTMLQuestion, QuestionForm
from marketplace.rules.questions.submissions import (
    Problem,
    check_form_answers,
    form_answers_xml,
    form_selections,
)

__all__ = [
    "LOCAL_HOSTS",
    "PREVIEW_ASSIGNMENT",
    "AnswerKey",
    "ExternalQuestion",
    "HTMLQuestion",
    "Problem",
    "QuestionForm",
    "answers_xml",
    "check_external_url",
    "check_form_answers",
    "form_answers_xml",
    "form_selections",
    "frame_url",
    "grade",
    "parse_answer_key",
    "parse_question",
    "parse_test",
    "read_answers",
    "safe_html",
]
