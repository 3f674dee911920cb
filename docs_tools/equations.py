r"""Equations of the documentation: TeX, which GitHub renders too, becomes MathML, which browsers render natively.

`pymdownx.arithmatex` protects everything between dollars from Markdown, and this extension of Python-Markdown turns it
into MathML when the site is built. So a page needs no script and no network; the font is among the stylesheets. The
converter would copy unknown TeX to the page; here it is an error, which stops the build.

A numbered equation is an anchor and a display with a tag:

    <a id="eq-2-1"></a>

    $$
    z = E[F(X)] \tag{2.1}
    $$

The anchor is written out because both GitHub and the check of links look for it in the source.
"""

import html
import re
from typing import Any

from latex2mathml.converter import convert
from markdown import Markdown
from markdown.extensions import Extension
from markdown.postprocessors import Postprocessor

_INLINE = re.compile(r'<span class="arithmatex">\\\((.*?)\\\)</span>([.,;:)]*)', flags=re.DOTALL)
_DISPLAY = re.compile(
    r'(?:<p><a id="(?P<anchor>[^"]+)"></a></p>\s*)?<div class="arithmatex">\s*\\\[(?P<tex>.*?)\\\]\s*</div>',
    flags=re.DOTALL,
)
_TAG = re.compile(r"\\tag\{([^}]*)\}")
# Signs of unconverted TeX.
_LEFT_OVER = re.compile(r"<mi>(?:\\[^<]*|&)</mi>|<mspace linebreak|<mi>_</mi>|<m\w+><merror")
_TIGHT = 'lspace="0" rspace="0"'
_THIN = '<mspace width="0.167em" />'
# The converter's output is correct but badly spaced: it treats names as operators, a bar or a slash like a plus sign, a
# colon like a comma.
_SPACING = (
    (re.compile(r"<mo(?: movablelimits=\"true\")?>([A-Za-z]{2,})</mo>"), r"<mi>\1</mi>"),
    (re.compile(r'<mo(?: stretchy="false")?>(&#x0007C;|&#x02016;|\|)</mo>'), rf'<mo {_TIGHT} stretchy="false">\1</mo>'),
    (re.compile(r"<mo>(&#x0002F;)</mo>"), rf"<mo {_TIGHT}>\1</mo>"),
    (re.compile(r"<m[io]>(&#x0003A;|:)</m[io]>"), r'<mo lspace="0.28em" rspace="0.28em">\1</mo>'),
    # Browsers support bold only as a property of the character.
    (re.compile(r'<mn mathvariant="bold">1</mn>'), "<mn>&#x1D7CF;</mn>"),
    (re.compile(r"<mo>(&#x02026;|&#x0221E;)</mo>"), r"<mi>\1</mi>"),
    (re.compile(r"<mi>(&#x02032;)</mi>"), r"<mo>\1</mo>"),
    (re.compile(r"(</m(?:i|n|row|sub|sup|frac)>)(<mi>(?:log|exp)</mi>|<mtext>kl</mtext>)"), rf"\1{_THIN}\2"),
    (re.compile(r"(<mi>(?:log|exp)</mi>)(?=<m(?:i|n|frac)>)"), rf"\1{_THIN}"),
)
# Below, not to the right, as in print.
_LIMITS = re.compile(r"\\(max|min|sup|inf|sum|prod)_")


class Equations(Extension):  # type: ignore[misc]  # Python-Markdown has no types
    """The extension, for `markdown_extensions` of the site."""

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802
        """Register the conversion of TeX to MathML, after all other extensions have written their HTML."""
        md.postprocessors.register(_MathML(md), "equations", -10)


class _MathML(Postprocessor):  # type: ignore[misc]
    def run(self, text: str) -> str:
        return with_mathml(text)


def makeExtension(**options: Any) -> Equations:  # noqa: N802
    """Return the extension; Python-Markdown calls this."""
    return Equations(**options)


def with_mathml(page: str) -> str:
    """Return the HTML of a page with all its TeX as MathML."""
    return _INLINE.sub(_written, _DISPLAY.sub(_displayed, page))


def _written(found: re.Match[str]) -> str:
    # A full stop must not begin the next line.
    shown = mathml(html.unescape(found[1]))
    return f'<span class="with-mark">{shown}{found[2]}</span>' if found[2] else shown


def _displayed(found: re.Match[str]) -> str:
    tex = html.unescape(found["tex"])
    number = _TAG.search(tex)
    anchor = f' id="{found["anchor"]}"' if found["anchor"] else ""
    shown = mathml(_TAG.sub("", tex), display=True)
    label = f'<span class="equation-number">({number[1]})</span>' if number else ""
    return f'<div class="equation"{anchor}>{shown}{label}</div>'


def mathml(tex: str, *, display: bool = False) -> str:
    """Return an expression as MathML.

    Parameters
    ----------
    tex
        The expression, without dollars and without a tag.
    display
        Whether it is on a line of its own.

    Raises
    ------
    ValueError
        For TeX that the converter does not support.
    """
    source = _LIMITS.sub(r"\\\1\\limits_", tex) if display else tex
    found = convert(source.strip(), display="block" if display else "inline")
    if left_over := _LEFT_OVER.search(found):
        raise ValueError(f"TeX that has no MathML, at {left_over[0]!r}: {tex.strip()}")
    for pattern, better in _SPACING:
        found = pattern.sub(better, found)
    return found
