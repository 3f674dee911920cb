r"""Names are any text: escaped here so that Markdown and LaTeX print them literally.

Line breaks and other control characters become spaces. In LaTeX, Greek letters, accented Latin ones and common symbols
become commands that every engine and encoding has. What pdflatex has no letter for (Chinese, emoji) is kept for
lualatex and xelatex, with a font that has it, and pdflatex prints its number in Unicode: ``U+4E2D``.
"""

import re
import unicodedata

_MARKDOWN = {
    # Entities where Markdown dialects disagree about the backslash, and where a parser splits cells before it sees one.
    "&": "&amp;",
    "<": "&lt;",
    ">": "&gt;",
    "|": "&#124;",
    "\\": "&#92;",
    "~": "&#126;",
    "^": "&#94;",
    "`": "\\`",
    "*": "\\*",
    "_": "\\_",
    "[": "\\[",
    "]": "\\]",
    "$": "\\$",
}
_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    # The typewriter font has a straight one in every encoding.
    '"': r"\texttt{\char34}",
    "`": r"\textasciigrave{}",
    # After the end of a row these would belong to it.
    "[": "{[}",
    "]": "{]}",
    "*": "{*}",
    "\N{NO-BREAK SPACE}": "~",
    "\N{EN DASH}": "--",
    "\N{EM DASH}": "---",
    "\N{MINUS SIGN}": "$-$",
    "\N{LEFT SINGLE QUOTATION MARK}": "`",
    "\N{RIGHT SINGLE QUOTATION MARK}": "'",
    "\N{LEFT DOUBLE QUOTATION MARK}": "``",
    "\N{RIGHT DOUBLE QUOTATION MARK}": "''",
    "\N{HORIZONTAL ELLIPSIS}": r"\dots{}",
    "\N{MULTIPLICATION SIGN}": r"$\times$",
    "\N{MIDDLE DOT}": r"$\cdot$",
    "\N{PLUS-MINUS SIGN}": r"$\pm$",
    "\N{DEGREE SIGN}": r"$^\circ$",
    "\N{INFINITY}": r"$\infty$",
    "\N{LESS-THAN OR EQUAL TO}": r"$\le$",
    "\N{GREATER-THAN OR EQUAL TO}": r"$\ge$",
    "\N{RIGHTWARDS ARROW}": r"$\rightarrow$",
    "\N{LEFTWARDS ARROW}": r"$\leftarrow$",
    "\N{MICRO SIGN}": r"$\mu$",
    "\N{SUPERSCRIPT ONE}": "$^1$",
    "\N{SUPERSCRIPT TWO}": "$^2$",
    "\N{SUPERSCRIPT THREE}": "$^3$",
    "\N{SECTION SIGN}": r"\S{}",
    "ß": r"\ss{}",
    "æ": r"\ae{}",
    "Æ": r"\AE{}",
    "œ": r"\oe{}",
    "Œ": r"\OE{}",
    "ø": r"\o{}",
    "Ø": r"\O{}",
    "ł": r"\l{}",
    "Ł": r"\L{}",
    "\N{LATIN SMALL LETTER DOTLESS I}": r"\i{}",
    **{chr(0x2080 + digit): f"$_{digit}$" for digit in range(10)},
}
#: By their names in Unicode; those that look like Latin letters have no command, and are those letters.
_GREEK_NAMES = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lamda mu nu xi pi rho sigma tau upsilon phi chi psi omega"
)
_GREEK_CAPITALS = "gamma delta theta lamda xi pi sigma upsilon phi psi omega"
_GREEK_LIKE_LATIN = {
    "ALPHA": "A",
    "BETA": "B",
    "EPSILON": "E",
    "ZETA": "Z",
    "ETA": "H",
    "IOTA": "I",
    "KAPPA": "K",
    "MU": "M",
    "NU": "N",
    "OMICRON": "O",
    "RHO": "P",
    "TAU": "T",
    "CHI": "X",
}


def _greek() -> dict[str, str]:
    def command(name: str) -> str:
        return name.replace("lamda", "lambda")

    found = {unicodedata.lookup(f"GREEK SMALL LETTER {name}"): f"$\\{command(name)}$" for name in _GREEK_NAMES.split()}
    for name in _GREEK_CAPITALS.split():
        found[unicodedata.lookup(f"GREEK CAPITAL LETTER {name}")] = f"$\\{command(name).capitalize()}$"
    for name, letter in _GREEK_LIKE_LATIN.items():
        found[unicodedata.lookup(f"GREEK CAPITAL LETTER {name}")] = letter
    found["\N{GREEK SMALL LETTER OMICRON}"] = "o"
    found["\N{GREEK SMALL LETTER FINAL SIGMA}"] = r"$\varsigma$"
    found["\N{GREEK PHI SYMBOL}"] = r"$\phi$"
    found["\N{GREEK LUNATE EPSILON SYMBOL}"] = r"$\epsilon$"
    return found


_LATEX |= _greek()
_ACCENTS = {
    "\N{COMBINING GRAVE ACCENT}": "`",
    "\N{COMBINING ACUTE ACCENT}": "'",
    "\N{COMBINING CIRCUMFLEX ACCENT}": "^",
    "\N{COMBINING TILDE}": "~",
    "\N{COMBINING DIAERESIS}": '"',
    "\N{COMBINING MACRON}": "=",
    "\N{COMBINING DOT ABOVE}": ".",
    "\N{COMBINING BREVE}": "u",
    "\N{COMBINING CARON}": "v",
    "\N{COMBINING DOUBLE ACUTE ACCENT}": "H",
    "\N{COMBINING RING ABOVE}": "r",
    "\N{COMBINING CEDILLA}": "c",
    "\N{COMBINING DOT BELOW}": "d",
}
#: Two of them in a row are another sign in LaTeX's fonts.
_LIGATURES = "-',"
#: In a narrow column a long name may be broken after one of these, and within as many other characters.
_BREAKS = "-_/.:,;@ "
_UNBROKEN = 8


def one_line(text: str) -> str:
    """Return text without line breaks, control characters and lone surrogates, with single spaces between words."""
    kinds = {"Cc": " ", "Zl": " ", "Zp": " ", "Cs": "\N{REPLACEMENT CHARACTER}"}
    return " ".join("".join(kinds.get(unicodedata.category(letter), letter) for letter in text).split())


def in_markdown(text: str) -> str:
    """Return text as a cell or a paragraph of Markdown shows it: no formatting, no HTML, no extra cells."""
    return "".join(_MARKDOWN.get(letter, letter) for letter in one_line(text))


def in_latex(text: str, *, breakable: bool = False) -> str:
    """Return text as LaTeX prints it, in a cell or in a caption.

    Parameters
    ----------
    text
        Any.
    breakable
        Whether lines may be broken within words, if there are more than a few letters.
    """
    breakable = breakable and len(text) > _UNBROKEN
    written: list[str] = []
    former, unbroken = "", 0
    for letter in unicodedata.normalize("NFC", one_line(text)):
        if letter == former and letter in _LIGATURES:
            written.append("{}")
        written.append(_latex_letter(letter))
        unbroken += 1
        if breakable and (letter in _BREAKS or unbroken == _UNBROKEN):
            written.append("" if letter == " " else r"\allowbreak{}")
            unbroken = 0
        former = letter
    return "".join(written)


def _latex_letter(letter: str) -> str:
    if letter in _LATEX:
        return _LATEX[letter]
    if letter.isascii():
        return letter
    parts = unicodedata.normalize("NFD", letter)
    base, accents = parts[0], parts[1:]
    if len(accents) == 1 and re.fullmatch("[A-Za-z]", base) and accents in _ACCENTS:
        dotless = f"\\{base}" if base in "ij" and accents not in _BELOW else base
        return f"\\{_ACCENTS[accents]}{{{dotless}}}"
    # Only the engines that read Unicode know this command.
    return f"\\ifdefined\\Umathcode {letter}\\else U+{ord(letter):04X}\\fi{{}}"


_BELOW = "\N{COMBINING CEDILLA}\N{COMBINING DOT BELOW}"
