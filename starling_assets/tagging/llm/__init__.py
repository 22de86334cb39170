"""Tagging by language models: teacher (one type a pass) and student (all types at once), grounded and merged."""
