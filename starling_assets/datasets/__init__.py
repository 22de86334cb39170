"""Judged records as a dataset: current versions, export, data card, published JSON schema."""
