"""Gold questions: questions with a known answer, hidden among the others."""

import hashlib
import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from enum import StrEnum
from random import Random

import msgspec

from annotation.pipeline.geometry import rect_problem
from annotation.pipeline.protocol.questions import Stage
from annotation.pipeline.protocol.settings import CrowdSettings, Settings
from annotation.pipeline.protocol.stage_spec import GOLD_STAGES, spec_of
from annotation.pipeline.protocol.state import ImageState
from annotation.pipeline.work.answers import Answer
from annotation.pipeline.work.display import Mark, Shown


class GoldSource(StrEnum):
    """How the answer came to be known."""

    FILE = "file"
    IMPORTED = "imported"
    REVIEWED = "reviewed"
    UNANIMOUS = "unanimous"


class Gold(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A question as it is shown, and its right answer."""

    stage: Stage
    image: str
    shown: Shown
    answer: str
    source: GoldSource = GoldSource.FILE
    # For researchers: what is wrong in the question, if anything: `loose`, `foreign phrase`, …
    kind: str = ""
    # The answer rests on judgments of these workers, so they must not get the question.
    workers: tuple[int, ...] = ()

    @property
    def key(self) -> str:
        """Return a key that is the same for the same question, however it was made."""
        about = (self.stage, self.image, self.shown)
        return hashlib.sha256(msgspec.json.encode(about)).hexdigest()[:32]


_decode = msgspec.json.Decoder(Gold)


def encode_gold(gold: Gold) -> str:
    return msgspec.json.encode(gold).decode()


def decode_gold(text: str | bytes) -> Gold:
    return _decode.decode(text)


def is_right(gold: Gold, answer: Answer) -> bool:
    """Tell whether an answer is the known one; reports and comments do not matter."""
    return answer.answer == gold.answer


def gold_problem(gold: Gold, state: ImageState) -> str | None:
    """Explain in plain words why this cannot be a gold question about this image."""
    if gold.stage not in GOLD_STAGES:
        return "Box Drawing has no gold questions: Box Quality checks its boxes"
    if gold.answer not in spec_of(gold.stage).answers:
        known = ", ".join(spec_of(gold.stage).answers)
        return f"{gold.answer!r} is not an answer of {gold.stage.value}; use one of: {known}"
    return _captions_problem(gold.shown, state) or _shape_problem(gold, state)


def _captions_problem(shown: Shown, state: ImageState) -> str | None:
    captions = {caption.number: caption for caption in state.captions}
    mentions = {mention.number for mention in state.mentions}
    for number in (*shown.captions, *(mark.caption for mark in shown.marks)):
        if number not in captions:
            return f"the image has no caption {number}"
    for mark in shown.marks:
        if mark.caption not in shown.captions:
            return f"caption {mark.caption} has a marked phrase but is not shown"
        tokens = captions[mark.caption].tokens
        if not 0 <= mark.start < mark.end <= len(tokens):
            return f"tokens {mark.start} to {mark.end} are outside caption {mark.caption}"
        # Only mentions can be reported as cut wrongly, so pages show other phrases differently.
        if not mark.mention:
            return _no_mention(mark, tokens, state)
        if mark.mention not in mentions:
            return f"the image has no mention {mark.mention}"
    return None


def _no_mention(mark: Mark, tokens: Sequence[str], state: ImageState) -> str:
    known = [
        repr(" ".join(tokens[mention.start : mention.end]))
        for mention in sorted(state.mentions, key=lambda mention: mention.start)
        if mention.caption == mark.caption
    ]
    phrase = " ".join(tokens[mark.start : mark.end])
    return (
        f"{phrase!r} is not a mention of caption {mark.caption}, so workers could spot the "
        f"question; its mentions are: {', '.join(known) or 'none'}"
    )


def _shape_problem(gold: Gold, state: ImageState) -> str | None:
    stage, shown, spec = gold.stage, gold.shown, spec_of(gold.stage)
    count = len(shown.marks)
    if count < spec.phrases or (count > spec.phrases and not spec.has_more_phrases):
        more = " or more" if spec.has_more_phrases else ""
        phrases = "phrase" if spec.phrases == 1 else "phrases"
        return f"{stage.value} needs {spec.phrases}{more} marked {phrases}, not {count}"
    if (shown.candidate is not None) != spec.shows_candidate:
        return "Box Quality needs one blue box, `candidate`; other stages must not have one"
    if shown.boxes and not spec.shows_boxes:
        return f"{stage.value} shows no boxes: leave `boxes` out"
    if spec.needs_boxes and not shown.boxes:
        return f"{spec.title} needs the boxes drawn so far: fill in `boxes`"
    for rect in (*shown.boxes, *filter(None, [shown.candidate])):
        problem = rect_problem(rect, state.width, state.height)
        if problem:
            return problem
    return None


# Handing out


class Offer(msgspec.Struct, frozen=True):
    """A gold question in use; `uses` counts all workers.

    `is_judged`: the worker has answered real questions of the stage about the image.
    """

    number: int
    image: str
    answer: str
    uses: int = 0
    is_judged: bool = False


def choose_gold(offers: Iterable[Offer], seen: Collection[int], count: int, seed: str) -> list[int]:
    """Return up to `count` numbers of a stage's gold questions for a worker.

    The worker never sees a question twice. Each answer comes up equally often while there are
    questions with it, so giving the same answer to everything fails. Among questions with the same
    answer, images that the worker has not judged come first, then the least used, at random. No
    image comes twice while there are others. Returns fewer than `count` if there are no more.
    """
    random = Random(f"gold/{seed}")
    by_answer: dict[str, list[Offer]] = defaultdict(list)
    for offer in sorted(offers, key=lambda offer: offer.number):
        if offer.number not in seen:
            by_answer[offer.answer].append(offer)
    for group in by_answer.values():
        random.shuffle(group)
        group.sort(key=lambda offer: (offer.is_judged, offer.uses))
    groups = [by_answer[answer] for answer in sorted(by_answer)]
    random.shuffle(groups)
    chosen = _in_turn(groups, count)
    random.shuffle(chosen)
    return [offer.number for offer in chosen]


def _in_turn(groups: list[list[Offer]], count: int) -> list[Offer]:
    """Take the first of each group in turn: first only new images, then any."""
    chosen: list[Offer] = []
    for new_images_only in (True, False):
        progress = True
        while progress and len(chosen) < count:
            progress = False
            for group in groups:
                if len(chosen) == count:
                    break
                images = {offer.image for offer in chosen}
                place = next(
                    (
                        place
                        for place, offer in enumerate(group)
                        if not new_images_only or offer.image not in images
                    ),
                    None,
                )
                if place is not None:
                    chosen.append(group.pop(place))
                    progress = True
    return chosen


def launch_problems(available: Mapping[Stage, Mapping[str, int]], settings: Settings) -> list[str]:
    """List the stages that lack gold questions; `available` counts them by answer."""
    problems = []
    needed = settings.crowd.gold_needed
    for stage in GOLD_STAGES:
        counts = available.get(stage, {})
        total = sum(counts.values())
        if total < needed:
            problems.append(f"{stage.value} has {total} gold questions and needs {needed}")
            continue
        lacking = [answer for answer in spec_of(stage).answers if not counts.get(answer)]
        if lacking:
            problems.append(
                f"{stage.value} has no gold question with the answer {' or '.join(lacking)}"
            )
    return problems


# Retiring


class GoldAnswer(msgspec.Struct, frozen=True):
    """How a worker did on a gold question, and the share of all checks they got right."""

    right: bool
    accuracy: float


# A question that most workers get wrong is probably wrong itself. Judge only from this many.
DISPUTED_FROM = 5


def is_leaked(answers: Sequence[GoldAnswer], crowd: CrowdSettings) -> bool:
    """Tell whether workers seem to know a gold question already: then retire it.

    They do if the latest answers (`answers` is oldest first) are all right, if there are at least
    as many as the setting asks for, and if such a run was improbable for these workers. This also
    retires easy questions, rightly: they do not tell good workers from bad ones.
    """
    run = 0
    for answer in reversed(answers):
        if not answer.right:
            break
        run += 1
    if run < crowd.gold_leak_answers:
        return False
    return math.prod(answer.accuracy for answer in answers[-run:]) < crowd.gold_leak_limit


def is_disputed(answers: Sequence[GoldAnswer]) -> bool:
    """Tell whether more answers are wrong than right; then a researcher should look at it."""
    right = sum(answer.right for answer in answers)
    return len(answers) >= DISPUTED_FROM and len(answers) - right > right
