"""Vocabulary releases in: concepts, names, hierarchy, structures. Matching of names to concepts."""
