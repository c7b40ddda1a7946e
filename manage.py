#!/usr/bin/env python3
"""Django's command line for Chainbox."""

import os
import sys
from pathlib import Path

from django.core.management import execute_from_command_line

from common.files.trouble import trouble_told
from config.demo.crowd_file import crowd_file_load


def main() -> None:
    """Run one management command; a full disk is told in words, whichever command meets it."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    crowd_file_load(os.environ, Path(__file__).resolve().parent)
    with trouble_told():
        execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
