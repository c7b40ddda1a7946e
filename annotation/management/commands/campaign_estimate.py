"""manage.py campaign_estimate: estimate how long a campaign will take and what it will cost."""

import argparse
import sys
from typing import Any

from django.core.management.base import CommandError

from annotation.management.campaigns import campaign_named
from annotation.management.database import DatabaseCommand
from annotation.management.progress import Progress
from annotation.pipeline.crowd.money import Costs, dollars
from annotation.pipeline.protocol.questions import Stage
from annotation.pipeline.protocol.settings import Settings
from annotation.selectors.crowd.money import campaign_spent
from annotation.simulation.estimates import CampaignEstimate, EstimateError, estimate_make


def positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number


def natural(text: str) -> int:
    number = int(text)
    if number < 0:
        raise argparse.ArgumentTypeError("must be at least 0")
    return number


class Command(DatabaseCommand):
    help = (
        "Estimate how many questions a campaign still has to ask and what they cost: questions × "
        "judgments × price + fees, at the prices in its settings. Simulated workers, who err as "
        "often as the paper's did, answer a sample of its images several times. The true answers "
        "come from the images' answer key, or are guessed from the captions. The range is that "
        "of the runs. Nothing is saved. See docs/trust.md."
    )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--campaign", required=True, metavar="NAME")
        parser.add_argument(
            "--images", type=positive, default=100, metavar="N", help="images per run (default 100)"
        )
        parser.add_argument(
            "--runs",
            type=positive,
            default=5,
            metavar="N",
            help="runs, each with its own seed (default 5)",
        )
        parser.add_argument(
            "--newcomers",
            type=natural,
            default=0,
            metavar="N",
            help="new workers with a test and a probation at every stage (default 0)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        campaign = campaign_named(options["campaign"])
        progress = Progress(sys.stderr, what="images simulated")
        try:
            found = estimate_make(
                campaign=campaign,
                images=options["images"],
                runs=options["runs"],
                newcomers=options["newcomers"],
                step=progress.step,
            )
        except (EstimateError, ValueError) as error:
            raise CommandError(f"{error}.") from error
        finally:
            progress.finish()
        settings = campaign.settings
        self.stdout.write(render(found, settings))
        left = campaign_spent(campaign).left(settings)
        most = found.total_cents.high
        if left < most:
            self.stdout.write(
                f"The budgets leave {dollars(left)}, so the work may stop early, or go on another "
                "day. The settings crowd.budget_cents and crowd.daily_budget_cents change them."
            )


def render(found: CampaignEstimate, settings: Settings) -> str:
    """Return the estimate as text."""
    lines = [
        f"{'stage':<14}{'questions':>10}{'× judgments':>13}{'= judgments':>13}{'HITs':>9}"
        f"{'× price':>9}{'cost':>12}   range"
    ]
    for stage in Stage:
        questions, judgments = found.questions[stage], found.judgments[stage]
        each = judgments.mean / questions.mean if questions.mean else 0.0
        lines.append(
            f"{stage.value:<14}{questions.mean:>10,}{each:>13.2f}{judgments.mean:>13,}"
            f"{found.estimate.hits[stage].mean:>9,}"
            f"{dollars(settings.crowd.price_cents[stage]):>9}"
            f"{dollars(found.estimate.cents[stage].mean):>12}   "
            f"{_range(found.estimate.cents[stage])}"
        )
    if found.tests_cents:
        lines.append(f"{'tests':<14}{dollars(found.tests_cents):>66}")
    lines.append(f"{'all':<14}{dollars(found.total_cents.mean):>66}   {_range(found.total_cents)}")
    lines += [
        f"The costs include fees of {settings.crowd.fee_percent}% and gold questions, "
        f"{settings.crowd.check_share:.0%} of all.",
        _newcomers(found, settings),
        f"{len(found.seeds)} runs (seeds {found.seeds[0]} to {found.seeds[-1]}), each with "
        f"{found.sample:,} of {found.images:,} unfinished images, scaled up to all of them; "
        f"{found.from_key:.0%} answered from an answer key, the rest from a guess.",
    ]
    return "\n".join(lines)


def _newcomers(found: CampaignEstimate, settings: Settings) -> str:
    if not found.newcomers:
        return "They do not include probation: --newcomers N adds that of N new workers."
    return (
        f"They include the probation of {found.newcomers:,} newcomers at every stage, "
        f"{settings.crowd.probation_items} gold questions each."
    )


def _range(costs: Costs) -> str:
    return f"{dollars(costs.low)} to {dollars(costs.high)}"
