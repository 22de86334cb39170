"""Windows to records: journal, grounding, numbers and units, de-duplication, judging."""
