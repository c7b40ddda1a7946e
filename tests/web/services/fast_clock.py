"""For a Celery worker of the tests: from its start, its clock is ten minutes fast."""

import time

import time_machine
from celery.signals import celeryd_init

from tests.clocks import FAST


# Not when it is imported: whoever looks for tests imports it too.
@celeryd_init.connect
def be_fast(**_: object) -> None:
    time_machine.travel(time.time() + FAST, tick=True).start()
