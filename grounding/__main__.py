"""Experiments on a finished release, from the command line. Needs no database.

python -m grounding extract --help
python -m grounding run --help
"""

import argparse
import sys
from collections.abc import Sequence

from annotation.pipeline.release.folder import ReleaseError
from common.files.trouble import disk_trouble
from grounding.cli import extract, run
from grounding.pipeline.errors import GroundingError

# Modules with HELP, DESCRIPTION, add_arguments(parser) and run(options) -> exit status.
COMMANDS = {"extract": extract, "run": run}


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m grounding",
        description="Experiments on a release directory: ours, or the public Flickr30k Entities.",
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, module in COMMANDS.items():
        command = commands.add_parser(
            name,
            help=module.HELP,
            description=module.DESCRIPTION,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        module.add_arguments(command)
    return parser


def main(words: Sequence[str] | None = None) -> int:
    options = build_parser().parse_args(words)
    try:
        status: int = COMMANDS[options.command].run(options)
        return status
    except (GroundingError, ReleaseError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        words = disk_trouble(error)
        if words is None:
            raise
        print(f"error: {words}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("stopped; run the same command again to continue", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
