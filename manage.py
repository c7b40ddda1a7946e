#!/usr/bin/env python3
"""Django's command line for Chainbox."""

import os
import sys
from pathlib import Path

from django.core.management import execute_from_command_line

from config.crowd_file import crowd_file_load


def main() -> None:
    """Run one management command."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    crowd_file_load(os.environ, Path(__file__).resolve().parent)
    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
