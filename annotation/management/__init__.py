"""Code that the commands of manage.py share."""
