"""Making and launching campaigns, changing their settings, asking for cost estimates."""
