"""Chemical names to structures: OPSIN in one long-lived JVM, vocabularies, RDKit."""
