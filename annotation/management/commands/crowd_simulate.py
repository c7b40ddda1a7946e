"""manage.py crowd_simulate: a seeded crowd works on a campaign that has an answer key."""

import argparse
import sys
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError

from annotation.actions.crowd.workers import workers_simulated
from annotation.management.campaigns import campaign_named
from annotation.management.database import DatabaseCommand
from annotation.management.progress import Progress
from annotation.models import Campaign, Image, OpenQuestion
from annotation.simulation.crowd import PERFECT, TYPICAL, Crowd, Profile
from annotation.simulation.http.report import run_lines, worker_lines
from annotation.simulation.http.run import Crew, crowd_work
from annotation.simulation.http.site import TurnedAwayError
from annotation.simulation.report import reason_lines
from annotation.simulation.run import campaign_report, campaign_review, campaign_simulate

# Nobody may vote twice in a tally, so a handful of workers would leave questions unanswered.
FEWEST_WORKERS = 4
WORKERS = 30
HTTP_WORKERS = 12
MINUTES = 60


def positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number


class Command(DatabaseCommand):
    help = (
        "Let simulated workers answer a campaign's open questions from its answer key (imported "
        "with --gold), and err as often as the paper's workers did. Prints judgments per stage "
        "and quality against gold. The same seed gives the same result; an interrupted run "
        "continues where it stopped. With --http they work as people do: through the marketplace "
        "and the task pages of a running site, with the campaign launched (campaign_launch). With "
        "--review, a simulated reviewer who knows the answer key then settles what the crowd "
        "left to reviewers."
    )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--campaign", required=True, metavar="NAME")
        parser.add_argument("--perfect", action="store_true", help="workers who never err")
        parser.add_argument("--seed", type=int, default=0, metavar="N", help="default 0")
        parser.add_argument(
            "--workers",
            type=positive,
            metavar="N",
            help=f"default {WORKERS}; with --http {HTTP_WORKERS}",
        )
        parser.add_argument(
            "--limit", type=positive, metavar="JUDGMENTS", help="stop after so many judgments"
        )
        parser.add_argument(
            "--review",
            action="store_true",
            help="settle the chains in review once the crowd is done",
        )
        http = parser.add_argument_group("through a running site")
        http.add_argument("--http", action="store_true", help="work as people do, over HTTP")
        http.add_argument(
            "--url",
            metavar="URL",
            help=f"address of the site; default {settings.CHAINBOX_TASK_URL}",
        )
        http.add_argument(
            "--spammers",
            type=int,
            metavar="N",
            help="how many workers answer at random at a stage once trusted there; default 0",
        )
        http.add_argument(
            "--minutes", type=positive, metavar="N", help=f"stop after N minutes; default {MINUTES}"
        )
        http.add_argument(
            "--invitation", metavar="CODE", help="for signing up where an invitation is needed"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        campaign = campaign_named(options["campaign"])
        images = Image.objects.filter(campaign=campaign).exclude(answer_key=None).count()
        if not images:
            raise CommandError(
                f"Campaign {campaign.name!r} has no answer key: import its corpus with --gold."
            )
        over_http = options["http"]
        workers = options["workers"] or (HTTP_WORKERS if over_http else WORKERS)
        if workers < FEWEST_WORKERS:
            raise CommandError(
                f"--workers: at least {FEWEST_WORKERS} are needed, as nobody may vote twice on "
                "the same thing."
            )
        for name in ("limit",) if over_http else ("url", "spammers", "minutes", "invitation"):
            if options[name] is not None:
                raise CommandError(f"--{name}: only with{'out' if over_http else ''} --http.")
        profile = PERFECT if options["perfect"] else TYPICAL
        if over_http:
            self._over_http(campaign, profile, workers, options)
        else:
            crowd = Crowd(workers_simulated(count=workers), profile, options["seed"])
            self._directly(campaign, crowd, images, options)

    def _directly(
        self, campaign: Campaign, crowd: Crowd, images: int, options: dict[str, Any]
    ) -> None:
        progress = Progress(sys.stderr, what="images worked on", total=images)
        run = campaign_simulate(
            campaign=campaign, crowd=crowd, limit=options["limit"], done=progress.step
        )
        progress.finish()
        starved = run.starved
        if options["review"]:
            # With a limit, the crowd may continue another time.
            self._review(campaign, crowd_is_done=options["limit"] is None)
            starved = OpenQuestion.objects.filter(campaign=campaign).count() if starved else 0
        self.stdout.write(f"{run.judgments:,} judgments recorded now; in all:\n")
        self.stdout.write(campaign_report(campaign).render(), ending="")
        if starved:
            self.stdout.write(
                f"{starved:,} questions are left that none of these workers may answer"
            )

    def _review(self, campaign: Campaign, *, crowd_is_done: bool) -> None:
        progress = Progress(sys.stderr, what="images reviewed")
        settled = campaign_review(
            campaign=campaign, crowd_is_done=crowd_is_done, done=progress.step
        )
        progress.finish()
        count = settled.total()
        chains = f"{count:,} chain{'' if count == 1 else 's'}"
        lines = [f"The reviewer settled {chains}{':' if count else '.'}", *reason_lines(settled)]
        self.stdout.write("\n".join([*lines, ""]))

    def _over_http(
        self, campaign: Campaign, profile: Profile, workers: int, options: dict[str, Any]
    ) -> None:
        spammers = options["spammers"] or 0
        if not 0 <= spammers <= workers:
            raise CommandError(f"--spammers: from 0 to {workers}, as many as there are workers.")
        progress = Progress(sys.stderr, what="HITs submitted")
        try:
            run = crowd_work(
                campaign=campaign,
                url=_site(options["url"] or settings.CHAINBOX_TASK_URL),
                crew=Crew(
                    workers=workers,
                    profile=profile,
                    seed=options["seed"],
                    spammers=spammers,
                    invitation=options["invitation"] or "",
                ),
                seconds=60 * (options["minutes"] or MINUTES),
                done=progress.step,
            )
        except TurnedAwayError as error:
            raise CommandError(str(error)) from None
        progress.finish()
        if options["review"]:
            self._review(campaign, crowd_is_done=not run.cut_short)
        self.stdout.write(campaign_report(campaign).render())
        self.stdout.write("\n".join([*run_lines(run), "", *worker_lines(campaign, run.workers)]))
        failed = [worker for worker in run.workers if worker.failure is not None]
        if failed:
            raise CommandError(f"{len(failed)} workers could not go on: {failed[0].failure!r}")


def _site(url: str) -> str:
    if not url.startswith(("http://", "https://")):
        raise CommandError(
            f"--url: {url!r} is not the address of a site. Write it like http://localhost:8000."
        )
    return url
