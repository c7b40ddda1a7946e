"""The services behind the site: database, message broker and file storage."""
