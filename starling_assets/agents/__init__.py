"""Roles that call models: task files, prompts, typed calls. Code drives, models answer."""
