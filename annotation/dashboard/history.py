"""Which facts of an image concern a chain."""

from collections.abc import Iterable
from typing import assert_never

from annotation.pipeline.protocol import facts
from annotation.pipeline.protocol.questions import Question
from annotation.pipeline.protocol.stage_spec import Subject, spec_of
from annotation.pipeline.protocol.state import Chain, ImageState


def facts_about(
    bodies: Iterable[tuple[int, facts.Body]], state: ImageState, chain: Chain
) -> set[int]:
    """Return the numbers of the facts about a chain, its phrases or its boxes.

    `bodies` come with their numbers, in order: a doubt follows the judgment that it concerns.
    """
    boxes = {box.number for box in state.boxes if chain.number in box.chains}
    found: set[int] = set()
    for number, body in bodies:
        if _is_about(body, chain, boxes, found):
            found.add(number)
    return found


def _is_about(body: facts.Body, chain: Chain, boxes: set[int], found: set[int]) -> bool:
    match body:
        case facts.AcceptedImport():
            return chain.imported
        case facts.Doubt(judgment=number) | facts.Undo(decision=number):
            return number in found
        case facts.Judgment(question=question):
            return _asks_about(question, chain, boxes)
        case facts.FixSpan(mention=number) | facts.Retype(mention=number):
            return number in chain.mentions
        case facts.Split(chain=number, mentions=mentions):
            return number == chain.number or bool(set(mentions) & set(chain.mentions))
        case facts.Join(chains=chains):
            return chain.number in chains
        case facts.BoxAdjust(box=number) | facts.BoxDelete(box=number):
            return number in boxes
        case facts.BoxAdd(chain=number) | facts.NoBox(chain=number) | facts.SendTo(chain=number):
            return number == chain.number
        case facts.CaptionUnrelated():
            return False
        case _:
            assert_never(body)


def _asks_about(question: Question, chain: Chain, boxes: set[int]) -> bool:
    subject = spec_of(question.stage).subject
    match subject:
        case Subject.MENTIONS:
            return bool(set(question.subject) & set(chain.mentions))
        case Subject.BOX:
            return question.subject[0] in boxes
        case Subject.CHAIN:
            return question.subject[0] == chain.number
        case _:
            assert_never(subject)
