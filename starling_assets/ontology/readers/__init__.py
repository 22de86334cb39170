"""Readers of the official and common file formats of vocabularies; each fills :class:`~..rows.Rows`."""
