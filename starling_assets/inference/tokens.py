"""An estimate of token counts without a tokeniser: stated as an estimate wherever it is shown."""

from __future__ import annotations

import math

#: UTF-8 bytes of biomedical prose per token, rounded down. With the packaged model's tokeniser, 432 paragraphs of 12
#: open-access papers have 3.7 on average, and a tenth of them (formulas, gene lists) fewer than 3.1.
BYTES_PER_TOKEN = 3.6
#: Tokens that a chat template adds to a system and a user message.
TEMPLATE_TOKENS = 16


def estimate_tokens(text: str) -> int:
    """About how many tokens ``text`` is; at least one for a text that is not empty."""
    return math.ceil(len(text.encode("utf-8", "surrogatepass")) / BYTES_PER_TOKEN)


def estimate_prompt_tokens(system: str, user: str) -> int:
    """About how many tokens the prompt of a call is, with the chat template around it."""
    return estimate_tokens(system) + estimate_tokens(user) + TEMPLATE_TOKENS
