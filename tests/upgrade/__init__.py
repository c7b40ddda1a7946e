"""What earlier versions wrote must still be read, and still mean the same.

The databases hold the demo, worked on by a simulated crowd and then by a reviewer who made
decisions of every kind. `database.sql.gz` follows the rules of today.
`database_under_older_rules.sql.gz` is of the version before migration `annotation.0006`, when some
decisions folded to other states. `recorded_histories.json` holds four images of the first: their
facts in order, and the state they folded to. None is ever written anew: docs/decisions.md says
what to do when a rule changes.
"""

from pathlib import Path

HERE = Path(__file__).parent
DATABASE = HERE / "database.sql.gz"
OLDER_RULES = HERE / "database_under_older_rules.sql.gz"
HISTORIES = HERE / "recorded_histories.json"
