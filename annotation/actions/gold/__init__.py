"""Gold questions: importing, making, exporting and retiring them."""
