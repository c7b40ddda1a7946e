"""A campaign brought up to its launch, with settings for a few simulated workers."""

from pathlib import Path
from typing import NamedTuple

from annotation.pipeline.release.folder import ReleasedImage, image_ids, read_image
from tests.e2e.corpus import DEMO
from tests.e2e.site import Site

# Minimums below the paper's: with ten items of probation, one in twenty good workers would fail
# by bad luck at some stage. People who answer at random still do not come near them.
SETTINGS = (
    *("crowd.probation_items=10", "crowd.probation_limit=40", "crowd.check_share=0.2"),
    *("crowd.gold_needed=30", "crowd.doubt_since=drop", "crowd.test_tries=4"),
    # Ten times as many checks as usual are ten times as many chances to lose trust by bad luck.
    "crowd.trust_limit=0.001",
    *("crowd.budget_cents=90000", "crowd.daily_budget_cents=90000"),
    # Large HITs, so that it does not take all day.
    *("questions_per_hit.links=20", "questions_per_hit.verification=10"),
    *("questions_per_hit.requirement=20", "questions_per_hit.drawing=10"),
    *("questions_per_hit.quality=20", "questions_per_hit.coverage=20"),
    *("minimum_performance.links=0.78", "minimum_performance.verification=0.75"),
    *("minimum_performance.requirement=0.75", "minimum_performance.drawing=0.65"),
    *("minimum_performance.quality=0.72", "minimum_performance.coverage=0.74"),
)


class Corpus(NamedTuple):
    """A campaign to be: where its files are."""

    campaign: str
    folder: Path
    guides: Path

    def images(self) -> list[ReleasedImage]:
        return [read_image(self.folder, name) for name in image_ids(self.folder)]


PUBLIC = "public"
DEMO_CORPUS = Corpus("demo", DEMO, DEMO / "guides")


def launch(site: Site, corpus: Corpus, *settings: str) -> None:
    """Import a corpus, prepare and launch it; `settings` are on top of those above."""
    name = ("--campaign", corpus.campaign)
    site.manage(
        *("corpus_import", str(corpus.folder), *name, "--gold"),
        *("--images", str(corpus.folder / "photos")),
    )
    site.manage("guides_import", str(corpus.guides), *name)
    site.manage("gold_make", *name, "--from-answer-key")
    site.manage("campaign_settings", *name, *SETTINGS, *settings)
    assert "is launched" in site.manage("campaign_launch", *name)
