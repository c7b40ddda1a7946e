"""Who may see the researchers' pages."""

from django.contrib.auth.decorators import permission_required

# Accounts of crowd workers must not see what other workers answered.
researchers_only = permission_required("annotation.view_campaign", raise_exception=True)
