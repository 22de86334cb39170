"""Ground floor: tables per partition, journals, atomic writes, partition locks. Knows no domain."""
