"""MathML as one line of text and as TeX, enough for the formulas of biomedical papers."""

from __future__ import annotations

import re

from lxml import etree

from .xml import entity_text, is_entity, local_name, own_text

_TOKENS = frozenset({"mi", "mn", "mo", "mtext", "ms"})
_INVISIBLE = str.maketrans({"\u2061": "", "\u2062": "", "\u2063": "", "\u2064": ""})
_TEX_BODY = re.compile(r"\\begin\{document\}(.*?)\\end\{document\}", re.DOTALL)
_TEX_NAMES = {
    "α": r"\alpha", "β": r"\beta", "γ": r"\gamma", "δ": r"\delta", "Δ": r"\Delta", "ε": r"\epsilon", "η": r"\eta", "θ":
    r"\theta",
    "κ": r"\kappa", "λ": r"\lambda", "μ": r"\mu", "µ": r"\mu", "π": r"\pi", "ρ": r"\rho", "σ": r"\sigma", "Σ":
    r"\Sigma", "τ": r"\tau",
    "φ": r"\phi", "χ": r"\chi", "ψ": r"\psi", "ω": r"\omega", "Ω": r"\Omega", "×": r"\times", "·": r"\cdot", "±":
    r"\pm", "≤": r"\le",
    "≥": r"\ge", "≈": r"\approx", "≠": r"\ne", "∞": r"\infty", "∑": r"\sum", "∏": r"\prod", "∫": r"\int", "→": r"\to",
    "−": "-",
    "∂": r"\partial", "√": r"\sqrt{}",
}  # fmt: skip


def math_text(element: etree._Element) -> str:
    """One readable line: fractions as ``a/b``, powers as ``x^2``, subscripts glued as in running text."""
    return " ".join(_text(element).translate(_INVISIBLE).split())


def math_tex(element: etree._Element) -> str:
    """TeX of a ``math`` element."""
    return " ".join(_tex(element).translate(_INVISIBLE).split())


def tex_of_formula(formula: etree._Element) -> str:
    """TeX of an ``inline-formula`` or ``disp-formula``: its own ``tex-math`` where it has one, else from MathML, else
    ""."""
    for tex in formula.iter("{*}tex-math", "tex-math"):
        source = own_text(tex)
        body = _TEX_BODY.search(source)
        return " ".join((body.group(1) if body else source).split()).strip("$ ")
    for math in formula.iter("{*}math"):
        return math_tex(math)
    return ""


def _kids(element: etree._Element) -> list[etree._Element]:
    return [child for child in element if isinstance(child.tag, str)]


def _leaf(element: etree._Element) -> str:
    parts = [element.text or ""]
    for child in element:
        if is_entity(child):
            parts.append(entity_text(child))
        elif isinstance(child.tag, str):
            parts.append(_leaf(child))
        parts.append(child.tail or "")
    return "".join(parts)


def _text(element: etree._Element) -> str:
    tag = local_name(element.tag)
    if tag in _TOKENS:
        text = _leaf(element).strip()
        return f" {text} " if tag == "mo" and text in {"=", "±", "×", "≤", "≥", "<", ">", "≈", "≠", "→"} else text
    if tag == "mspace":
        return " "
    if tag in {"annotation", "annotation-xml", "mphantom"}:
        return ""
    parts = [_text(child) for child in _kids(element)]
    if tag in {"msup", "mover"} and len(parts) == 2:
        if tag == "mover":
            return "".join(parts) if len(parts[1].strip()) > 1 else parts[0] + parts[1].strip()
        return f"{parts[0]}^{_grouped(parts[1])}"
    if tag in {"msubsup", "munderover"} and len(parts) == 3:
        return f"{parts[0]}{parts[1]}^{_grouped(parts[2])}"
    if tag == "mfrac" and len(parts) == 2:
        return f"{_grouped(parts[0])}/{_grouped(parts[1])}"
    if tag == "msqrt":
        return f"√{_grouped(''.join(parts))}"
    if tag == "mfenced":
        inside = element.get("separators", ",")[:1].join(parts)
        return f"{element.get('open', '(')}{inside}{element.get('close', ')')}"
    if tag in {"mtr", "mlabeledtr"}:
        return " ".join(parts) + "; "
    return "".join(parts)


def _grouped(text: str) -> str:
    text = text.strip()
    return text if len(text) <= 1 or text.replace(".", "").isalnum() or text.lstrip("-−").isalnum() else f"({text})"


def _tex(element: etree._Element) -> str:
    tag = local_name(element.tag)
    if tag in _TOKENS:
        text = _leaf(element).strip()
        if tag == "mtext":
            return rf"\text{{{text}}}" if text else " "
        escaped = "".join(
            _TEX_NAMES.get(character, character) + (" " if character in _TEX_NAMES else "") for character in text
        )
        return rf"\mathrm{{{escaped}}}" if tag == "mi" and len(text) > 1 and escaped == text else escaped
    if tag in {"annotation", "annotation-xml", "mphantom"}:
        return ""
    parts = [_tex(child).strip() for child in _kids(element)]
    shapes = {
        ("msup", 2): "{0}^{{{1}}}",
        ("msub", 2): "{0}_{{{1}}}",
        ("msubsup", 3): "{0}_{{{1}}}^{{{2}}}",
        ("mfrac", 2): r"\frac{{{0}}}{{{1}}}",
        ("mover", 2): r"\overset{{{1}}}{{{0}}}",
        ("munder", 2): r"\underset{{{1}}}{{{0}}}",
        ("munderover", 3): r"{0}_{{{1}}}^{{{2}}}",
        ("mroot", 2): r"\sqrt[{1}]{{{0}}}",
    }
    shape = shapes.get((tag, len(parts)))
    if shape:
        return shape.format(*parts)
    joined = " ".join(part for part in parts if part)
    if tag == "msqrt":
        return rf"\sqrt{{{joined}}}"
    if tag == "mfenced":
        return f"{element.get('open', '(')}{', '.join(parts)}{element.get('close', ')')}"
    if tag == "mtable":
        return rf"\begin{{matrix}}{joined}\end{{matrix}}"
    if tag in {"mtr", "mlabeledtr"}:
        return " & ".join(parts) + r" \\"
    return joined
