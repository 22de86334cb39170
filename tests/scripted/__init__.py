"""Scripted models: they answer from hand-read records, from the text of the request alone.

``ideal`` finds every gold record whose words stand in the passage and judges by the gold; ``sloppy`` does the same with
planted errors; ``adversarial`` gives nothing but errors. Each is a function ``answer(messages, schema) -> dict`` for
the stub endpoint: ``python -m tests.stub_endpoint --answer tests.scripted:ideal``. The records come from
``tests/data/gold`` and, where present, from the larger set that ``STARLING_TEST_SHARED`` names or that lies beside the
checkout.
"""

from .client import ScriptedClient
from .gold import Gold, GoldRecord, load_gold
from .models import Adversary, Ideal, IdealJudge, Sloppy, adversarial, ideal, sloppy

__all__ = [
    "Adversary",
    "Gold",
    "GoldRecord",
    "Ideal",
    "IdealJudge",
    "ScriptedClient",
    "Sloppy",
    "adversarial",
    "ideal",
    "load_gold",
    "sloppy",
]
