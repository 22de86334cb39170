"""Dagster assets, checks and jobs: thin, one module per stage. All work is done by the rooms below."""

import warnings

import dagster as dg

# The graph uses backfill policies, multi-partition mappings and spec mapping knowingly; their state of release is
# pinned by the lock file and tested, and the warnings would repeat on every load.
for _category in (dg.BetaWarning, dg.PreviewWarning):
    warnings.filterwarnings("ignore", category=_category)
