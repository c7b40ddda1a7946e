"""The marketplace: its rules and HITs' lives here, its API, pages and questions in rooms."""
