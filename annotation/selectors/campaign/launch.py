"""What a campaign needs for its launch, and what is still missing."""

import re
import shlex
from collections.abc import Iterator

import msgspec
from django.conf import settings as site
from django.db.models import Count, Q

from annotation import models
from annotation.pipeline.crowd.money import campaign_fees, dollars, hit_cost, stage_cost
from annotation.pipeline.gold.gold_question import launch_problems
from annotation.pipeline.protocol.questions import Stage
from annotation.pipeline.protocol.settings import Settings
from annotation.pipeline.protocol.stage_spec import GOLD_STAGES
from annotation.pipeline.work.guides import StageGuide, read_consent, shipped_consent, shipped_guide
from annotation.selectors.gold.gold_questions import gold_available
from annotation.selectors.work.guides import guide_read, guides_current, lesson_images

# Gaps that somebody has to fill in: the shipped consent text has some.
_PLACEHOLDER = re.compile(r"\[[^\]]+\](?!\()")
# What the connection to the marketplace needs.
CONNECTION = ("CHAINBOX_CROWD_ENDPOINT", "CHAINBOX_CROWD_KEY_ID", "CHAINBOX_CROWD_SECRET")


class LaunchCheck(msgspec.Struct, frozen=True):
    """One check before a launch."""

    what: str
    # What was found, in a few words.
    found: str
    # The problems; empty if there are none.
    problems: tuple[str, ...] = ()
    # Remedies: commands, and other things to do.
    fixes: tuple[str, ...] = ()

    @property
    def is_fine(self) -> bool:
        return not self.problems


def launch_checks(campaign: models.Campaign) -> tuple[LaunchCheck, ...]:
    """Check everything that a launch needs, in a constant few statements."""
    settings = campaign.settings
    rows = guides_current(campaign)
    guides = {
        stage: guide_read(rows[stage.value]) if stage.value in rows else shipped_guide(stage)
        for stage in Stage
    }
    return (
        _questions(campaign),
        _photos(campaign),
        _tests(campaign, guides),
        _consent(campaign, rows.get(models.CONSENT)),
        _gold(campaign, settings),
        _budget(campaign, settings),
        _connection(campaign, settings),
    )


def _command(campaign: models.Campaign, name: str, rest: str = "") -> str:
    parts = ("manage.py", name, "--campaign", shlex.quote(campaign.name), rest)
    return " ".join(part for part in parts if part)


def _questions(campaign: models.Campaign) -> LaunchCheck:
    there = campaign.open_questions.exists()
    return LaunchCheck(
        what="Questions",
        found="there are open questions" if there else "there is no open question",
        problems=() if there else ("there is nothing to ask",),
        fixes=() if there else (f"import a corpus: {_command(campaign, 'corpus_import', 'PATH')}",),
    )


def _photos(campaign: models.Campaign) -> LaunchCheck:
    images = models.Image.objects.filter(campaign=campaign, withdrawn_at=None)
    bare = Q(file="", open_questions__isnull=False)
    count = images.aggregate(
        all=Count("pk", distinct=True), bare=Count("pk", filter=bare, distinct=True)
    )
    if not count["bare"]:
        return LaunchCheck(what="Photos", found=f"{count['all']:,} images, no photo is missing")
    names = ", ".join(
        images.filter(bare).order_by("pk").values_list("name", flat=True).distinct()[:3]
    )
    return LaunchCheck(
        what="Photos",
        found=f"{count['all']:,} images, {count['bare']:,} without a photo",
        problems=(f"{count['bare']:,} images have questions but no photo, such as {names}",),
        fixes=(
            f"import the corpus again, with photos: "
            f"{_command(campaign, 'corpus_import', 'PATH --images DIR')}",
            f"or withdraw an image: {_command(campaign, 'image_withdraw', 'IMAGE --reason WORDS')}",
        ),
    )


def _tests(campaign: models.Campaign, guides: dict[Stage, StageGuide]) -> LaunchCheck:
    names = {lesson.image for guide in guides.values() for lesson in guide.test}
    shown = lesson_images(campaign, names)
    usable = {
        stage: sum(lesson.image in shown for lesson in guide.test)
        for stage, guide in guides.items()
    }
    problems = tuple(
        f"the guide of {stage.value} has "
        + ("test questions, but none with a photo" if guides[stage].test else "no test questions")
        for stage in Stage
        if not usable[stage]
    )
    return LaunchCheck(
        what="Tests",
        found=", ".join(f"{stage.value} {number}" for stage, number in usable.items()),
        problems=problems,
        fixes=(
            f"export the guides: {_command(campaign, 'guides_export', 'FOLDER')}",
            "add [[test]] questions to them, as docs/guides.md shows",
            f"and import them: {_command(campaign, 'guides_import', 'FOLDER')}",
        )
        if problems
        else (),
    )


def _consent(campaign: models.Campaign, row: models.Guide | None) -> LaunchCheck:
    guide = shipped_consent() if row is None else read_consent(row.source)
    empty = [words for text in guide.paragraphs for words in _PLACEHOLDER.findall(text)]
    return LaunchCheck(
        what="Consent",
        found="it is complete" if not empty else "it has gaps to fill in",
        problems=tuple(f"the consent text still contains {words}" for words in empty),
        fixes=(
            f"complete consent.toml: {_command(campaign, 'guides_export', 'FOLDER')}",
            f"and import it: {_command(campaign, 'guides_import', 'FOLDER')}",
        )
        if empty
        else (),
    )


def _gold(campaign: models.Campaign, settings: Settings) -> LaunchCheck:
    available = gold_available(campaign)
    problems = list(launch_problems(available, settings))
    fixes: list[str] = []
    if problems:
        fixes = [
            f"import some from a file: {_command(campaign, 'gold_import', 'FILE')}",
            f"or make some from finished annotation: {_command(campaign, 'gold_make')}",
        ]
    if settings.crowd.check_share >= 1:
        problems.append("with crowd.check_share 1 all questions are gold questions")
        fixes.append(_command(campaign, "campaign_settings", "crowd.check_share=0.02"))
    return LaunchCheck(
        what="Gold questions",
        found=", ".join(
            f"{stage.value} {sum(available.get(stage, {}).values())}" for stage in GOLD_STAGES
        ),
        problems=tuple(problems),
        fixes=tuple(fixes),
    )


def _budget(campaign: models.Campaign, settings: Settings) -> LaunchCheck:
    crowd = settings.crowd
    costs = [stage_cost(stage, settings) for stage in Stage]
    costs.append(hit_cost(crowd.test_price_cents, campaign_fees(settings)))
    problems = []
    fixes = []
    for name, words, cents in (
        ("budget_cents", "the budget", crowd.budget_cents),
        ("daily_budget_cents", "the daily budget", crowd.daily_budget_cents),
    ):
        if cents < max(costs):
            problems.append(
                f"{words} is {dollars(cents)}, less than the {dollars(max(costs))} of one HIT"
            )
            fixes.append(_command(campaign, "campaign_settings", f"crowd.{name}=CENTS"))
    if problems:
        fixes.append(f"what it will cost: {_command(campaign, 'campaign_estimate')}")
    return LaunchCheck(
        what="Budget",
        found=f"{dollars(crowd.budget_cents)}, {dollars(crowd.daily_budget_cents)} a day",
        problems=tuple(problems),
        fixes=tuple(fixes),
    )


def _connection(campaign: models.Campaign, settings: Settings) -> LaunchCheck:
    problems = [f"{name} is not set" for name in CONNECTION if not getattr(site, name, "")]
    fixes = ["set them in the environment: see CONTRIBUTING.md"] if problems else []
    if not site.CHAINBOX_TASK_URL:
        problems.append("CHAINBOX_TASK_URL, where workers reach the task pages, is not set")
        fixes.append("set it in the environment: see CONTRIBUTING.md")
    for problem, fix in _fee_problems(campaign, settings):
        problems.append(problem)
        fixes.append(fix)
    endpoint = getattr(site, CONNECTION[0], "")
    return LaunchCheck(
        what="Marketplace",
        found=endpoint or "not set",
        problems=tuple(problems),
        fixes=tuple(fixes),
    )


def _fee_problems(campaign: models.Campaign, settings: Settings) -> Iterator[tuple[str, str]]:
    """Yield a problem if our own marketplace's fee differs from the one the campaign expects."""
    is_ours = getattr(site, CONNECTION[0], "").rstrip("/") == site.MARKETPLACE_URL.rstrip("/")
    taken, expected = site.MARKETPLACE_FEE_PERCENT, settings.crowd.fee_percent
    if is_ours and taken != expected:
        yield (
            f"the marketplace charges {taken}%, but the campaign expects {expected}%",
            _command(campaign, "campaign_settings", f"crowd.fee_percent={taken}"),
        )
