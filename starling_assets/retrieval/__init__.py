"""Filters over entity bitmaps, vectors, plans and ranking."""
