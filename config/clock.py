"""How far the clocks of two machines may be apart.

Leases, deadlines and payments go by the database's clock, which all machines share. What is signed
or sent goes by the clock of the machine that does it, and is read by another: it must not end early
because one clock is ten minutes slow and the other ten minutes fast.
"""

CLOCK_TOLERANCE_SECONDS = 20 * 60
