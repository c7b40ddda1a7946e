"""All of the marketplace's writes. They take locks in one order: HIT, assignment, accounts."""
