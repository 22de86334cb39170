r"""LaTeX inside a line of text as the characters it stands for: ``IC$_{50}$ 5 $\mu$M`` is IC50 5 μM."""

from __future__ import annotations

import re

_INLINE = re.compile(r"(?<!\\)\$(?=\S)([^$\n]{1,200}?)(?<=\S)\$(?!\d)|\\\((.{1,200}?)\\\)")
_SIGNS_TEXT = """pm ± times × cdot · leq ≤ le ≤ geq ≥ ge ≥ neq ≠ approx ≈ sim ~ infty ∞ degree ° circ ° rightarrow →
to → leftarrow ← rightleftharpoons ⇌ downarrow ↓ uparrow ↑ div ÷ mp ∓ prime ′ ll ≪ gg ≫ propto ∝
partial ∂ sum ∑ int ∫ alpha α beta β gamma γ delta δ epsilon ε varepsilon ε zeta ζ eta η theta θ
iota ι kappa κ lambda λ mu μ nu ν xi ξ pi π rho ρ sigma σ tau τ upsilon υ phi φ varphi φ chi χ psi ψ
omega ω Gamma Γ Delta Δ Theta Θ Lambda Λ Xi Ξ Pi Π Sigma Σ Upsilon Υ Phi Φ Psi Ψ Omega Ω"""
_SIGNS = dict(zip(_SIGNS_TEXT.split()[::2], _SIGNS_TEXT.split()[1::2], strict=True))
_FACES = re.compile(r"\\(?:mathrm|mathbf|mathit|text|textit|textbf|rm|bf|it|operatorname|mathsf)\b\s*")
_NAMED = re.compile(r"\\([A-Za-z]+)\s*")
_ESCAPED = re.compile(r"\\([%&#_${}])")
#: A power keeps its sign (``10^-3``), an index does not.
_BARE = re.compile(r"(?<!\d)\^|\^(?=\{?[°′*])|_|[{}]|\\[,;:! ]")


def plain(text: str) -> str:
    """``text`` with its inline formulas as characters; one that holds more than signs and indices stays as it is."""
    return _ESCAPED.sub(r"\1", _INLINE.sub(_replaced, text)) if "$" in text or "\\" in text else text


def _replaced(match: re.Match[str]) -> str:
    inner = _FACES.sub("", match.group(1) or match.group(2))
    unknown = [name for name in _NAMED.findall(inner) if name not in _SIGNS]
    if unknown:
        return match.group()
    inner = _NAMED.sub(lambda named: _SIGNS[named.group(1)], inner)
    # The base of a power may stand before the formula: ``10$^{-3}$``.
    before = match.string[: match.start()][-1:]
    base = before if before.isdigit() else ""
    return _BARE.sub("", base + inner)[len(base) :]
