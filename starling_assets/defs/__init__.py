"""Dagster assets, checks and jobs: thin, one module per stage. All work is done by the rooms below."""
