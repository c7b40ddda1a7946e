"""guides_import, guides_export, campaign_settings, and the guides of demo_load."""

from io import StringIO
from pathlib import Path

import msgspec
import pytest
from django.core.management import CommandError, call_command

from annotation import models
from annotation.actions.work.guides import guide_save
from annotation.management.commands.demo_load import DEMO
from annotation.pipeline.protocol.questions import Stage
from annotation.pipeline.protocol.settings import DrawingWay, Settings
from annotation.pipeline.protocol.stage_spec import spec_of
from annotation.pipeline.work.guides import shipped_source
from annotation.selectors.work.guides import TOPICS, consent_guide, guides_current, stage_guide
from tests.web.campaigns import small_campaign
from tests.web.work.test_guides import CONSENT, LESSON

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign(tmp_path: Path) -> models.Campaign:
    return small_campaign(tmp_path, ["first"])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "guides"
    made.mkdir()
    (made / "links.toml").write_text(LESSON, encoding="utf-8")
    (made / "consent.toml").write_text("\ufeff" + CONSENT, encoding="utf-8")
    return made


def run(command: str, *args: object, **options: object) -> str:
    out = StringIO()
    call_command(command, *args, campaign="rides", stdout=out, **options)
    return out.getvalue()


def refused(command: str, *args: object, **options: object) -> str:
    with pytest.raises(CommandError) as error:
        run(command, *args, **options)
    return str(error.value)


def settings_of(campaign: models.Campaign) -> Settings:
    row = models.Campaign.objects.select_related("current_settings").get(pk=campaign.pk)
    assert row.current_settings is not None
    return row.current_settings.settings


def test_import_says_what_is_new(campaign: models.Campaign, folder: Path) -> None:
    assert run("guides_import", folder) == (
        "links imported as version 1\nconsent imported as version 1\n"
    )
    (folder / "links.toml").write_text(LESSON + "# more\n", encoding="utf-8")
    assert run("guides_import", folder) == (
        "links imported as version 2\nconsent unchanged since version 1\n"
    )
    assert len(stage_guide(campaign, Stage.LINKS).guide.test) == 1
    assert consent_guide(campaign).guide.title == "Before"


@pytest.mark.usefixtures("campaign")
def test_a_dry_run_changes_nothing(folder: Path) -> None:
    assert "links, consent: ready to import" in run("guides_import", folder, dry_run=True)
    assert models.Guide.objects.count() == 0
    (folder / "links.toml").write_text("title = 3", encoding="utf-8")
    assert "`title` must be text" in refused("guides_import", folder, dry_run=True)


@pytest.mark.usefixtures("campaign")
def test_one_bad_file_and_nothing_is_imported(folder: Path) -> None:
    (folder / "links.toml").write_text(LESSON.replace("first", "third"), encoding="utf-8")
    assert refused("guides_import", folder) == (
        "links.toml: test question 1: campaign 'rides' has no image 'third' with a photo\n"
        "Nothing was imported."
    )
    assert models.Guide.objects.count() == 0


@pytest.mark.usefixtures("campaign")
def test_folders_that_are_no_guides(folder: Path, tmp_path: Path) -> None:
    known = (
        "guides are named links.toml, verification.toml, requirement.toml, drawing.toml, "
        "quality.toml, coverage.toml, consent.toml."
    )
    empty = tmp_path / "empty"
    empty.mkdir()
    assert refused("guides_import", empty) == f"{empty} has no TOML file; {known}"
    assert refused("guides_import", tmp_path / "no") == f"{tmp_path / 'no'} is not a folder."
    (folder / "link.toml").write_text("", encoding="utf-8")
    assert refused("guides_import", folder) == f"{folder} has link.toml; {known}"
    (folder / "link.toml").unlink()
    (folder / "links.toml").write_bytes(b"# caf\xe9")
    assert "links.toml: not UTF-8, from byte 6 on." in refused("guides_import", folder)
    (folder / "links.toml").unlink()
    (folder / "links.toml").mkdir()
    assert "links.toml: Is a directory." in refused("guides_import", folder)


def test_what_is_exported_can_be_imported(campaign: models.Campaign, tmp_path: Path) -> None:
    written = LESSON + "# with a ’ and\r\nan = 1".replace("an = 1", "# end")
    guide_save(campaign=campaign, topic="links", source=written)
    out = tmp_path / "a" / "b"
    said = run("guides_export", out)
    assert f"{out / 'links.toml'}: version 1\n" in said
    assert f"{out / 'quality.toml'}: the shipped text\n" in said
    assert (out / "links.toml").read_bytes() == written.encode()
    for topic in TOPICS[1:]:
        assert (out / f"{topic}.toml").read_text(encoding="utf-8") == shipped_source(topic)
    run("guides_import", out)
    assert sorted(guides_current(campaign)) == sorted(TOPICS)


def test_an_export_replaces_nothing_unasked(campaign: models.Campaign, folder: Path) -> None:
    said = refused("guides_export", folder)
    assert said.startswith(f"{folder} has links.toml, consent.toml already. Nothing was written.")
    assert (folder / "links.toml").read_text(encoding="utf-8") == LESSON
    assert len(list(folder.iterdir())) == 2
    run("guides_export", folder, force=True)
    assert (folder / "links.toml").read_text(encoding="utf-8") == shipped_source("links")
    (folder / "file").write_text("", encoding="utf-8")
    assert "file: " in refused("guides_export", folder / "file")


@pytest.mark.usefixtures("campaign")
def test_settings_are_printed() -> None:
    said = run("campaign_settings").splitlines()
    assert said[0] == "rides, settings version 1"
    assert "  coverage_votes = 2" in said
    assert "  drawing_way = choice" in said
    assert "  questions_per_hit.links = 10" in said
    assert "  crowd.price_cents.links = 25" in said
    assert '  standing_box_types = ["people", "clothing", "bodyparts"]' in said
    assert models.CampaignSettings.objects.count() == 1


def test_settings_are_changed(campaign: models.Campaign) -> None:
    said = run(
        "campaign_settings",
        "drawing_way=random",
        "questions_per_hit.links=5",
        "questions_per_hit.drawing=2",
        "merge_iou=0.85",
        "crowd.check_share=0.2",
        "crowd.price_cents.links=30",
        'standing_box_types=["people"]',
    )
    assert said.startswith("rides, settings version 2\n")
    changed = settings_of(campaign)
    assert changed.version == 2
    assert changed.drawing_way is DrawingWay.RANDOM
    assert changed.questions_per_hit == Settings().questions_per_hit | {
        Stage.LINKS: 5,
        Stage.DRAWING: 2,
    }
    assert changed.merge_iou == 0.85
    assert changed.crowd == msgspec.structs.replace(
        Settings().crowd,
        check_share=0.2,
        price_cents=Settings().crowd.price_cents | {Stage.LINKS: 30},
    )
    assert changed.standing_box_types == ("people",)
    assert changed.coverage_votes == Settings().coverage_votes
    # What is so already makes no new version.
    assert run("campaign_settings", "merge_iou=0.85").startswith("rides, settings version 2\n")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("merge_iou", "'merge_iou' is not an assignment. Write NAME=VALUE."),
        ("merge=1", "There is no setting 'merge'; there are: standing_box_types, "),
        ("version=7", "There is no setting 'version'; there are: "),
        ("merge_iou.links=1", "The setting 'merge_iou' has no part 'links'; it has none."),
        (
            "questions_per_hit.link=1",
            "The setting 'questions_per_hit' has no part 'link'; there are: "
            "questions_per_hit.links, ",
        ),
        ("coverage_votes=two", "`coverage_votes` must be a whole number, not text"),
        ("coverage_votes=0", "`coverage_votes` must be at least 1, not 0"),
        ("merge_iou=80", "`merge_iou` must be a share from 0 to 1, not 80"),
        ("test_iou=NaN", "`test_iou` must be a share from 0 to 1, not nan"),
        (
            "drawing_way=free",
            "`drawing_way`: 'free' is none of the choices; there are: drag, extreme, choice, "
            "random",
        ),
        ('questions_per_hit={"links": 5}', "`questions_per_hit` has no value for verification, "),
        ("questions_per_hit.links=101", "`questions_per_hit.links` must be at most 100, not 101"),
        (
            "minimum_performance.links=80",
            "`minimum_performance.links` must be a share from 0 to 1, not 80",
        ),
        ("crowd.check_share=2", "`crowd.check_share` must be a share from 0 to 1, not 2"),
        ("crowd.trust_limit=0.5", "`crowd.trust_limit` must be at most 0.1, not 0.5"),
        ("crowd.price_cents.links=-1", "`crowd.price_cents.links` must be at least 0, not -1"),
        ("crowd.price_cents.link=1", "The setting 'crowd.price_cents' has no part 'link'; there "),
        ("crowd.prices=1", "The setting 'crowd' has no part 'prices'; there are: crowd.test_tries"),
        ("crowd.check_share.links=1", "'crowd.check_share' has no part 'links'; it has none"),
        (
            "crowd.probation_items=61",
            "`crowd.probation_limit` must be at least `crowd.probation_items` (61), not 60",
        ),
    ],
)
def test_settings_that_make_no_sense(campaign: models.Campaign, change: str, said: str) -> None:
    assert said in refused("campaign_settings", "coverage_votes=3", change)
    assert settings_of(campaign) == Settings()


@pytest.mark.slow
def test_the_demo_campaign_comes_with_guides() -> None:
    call_command("demo_load", stdout=StringIO())
    campaign = models.Campaign.objects.get(name="demo")
    for stage in Stage:
        current = stage_guide(campaign, stage)
        assert current.row is not None
        assert {lesson.answer for lesson in current.guide.test} == set(spec_of(stage).answers)
        assert len(current.guide.examples) >= 3
    consent = consent_guide(campaign).row
    assert consent is not None
    assert consent.source == (DEMO / "guides" / "consent.toml").read_text(encoding="utf-8")
    # Loading again keeps what somebody has edited ...
    guide_save(campaign=campaign, topic="links", source="# mine\n")
    call_command("demo_load", stdout=StringIO())
    assert guides_current(campaign)["links"].version == 2
    # ... and a demo campaign from before there were guides gets them.
    models.Guide.objects.all().delete()
    call_command("demo_load", stdout=StringIO())
    assert sorted(guides_current(campaign)) == sorted(TOPICS)
