"""Ground floor: one door for every model call. Protocol, typed replies, failure classes, budget, ledger."""
