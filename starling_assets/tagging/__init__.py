"""Entity tags of 19 types: the tag contract, taggers, merging."""
