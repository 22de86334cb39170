"""Papers in: citations, JATS and PDF become papers, blocks, chunks and windows. Licences and versions."""
