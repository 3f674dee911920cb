"""Tables for papers and programs: an evaluation as Markdown, LaTeX and CSV.

Markdown and LaTeX are for readers: rounded, ``0.4623 (0.3904, 0.5537)`` and ``1 (2, 1)``, with a caption that states
the guarantee. CSV is for programs: every number in its own column, with all digits, and names unchanged.
"""

from untuned.reports.tables.cells import Column as Column
from untuned.reports.tables.cells import Count as Count
from untuned.reports.tables.cells import Estimate as Estimate
from untuned.reports.tables.cells import Measured as Measured
from untuned.reports.tables.cells import Row as Row
from untuned.reports.tables.cells import Standing as Standing
from untuned.reports.tables.cells import Text as Text
from untuned.reports.tables.content import aggregate as aggregate
from untuned.reports.tables.content import environment as environment
from untuned.reports.tables.content import environments as environments
from untuned.reports.tables.content import head_to_head as head_to_head
from untuned.reports.tables.content import pairs as pairs
from untuned.reports.tables.content import weights as weights
from untuned.reports.tables.digits import Digits as Digits
from untuned.reports.tables.digits import digits as digits
from untuned.reports.tables.printed import printed as printed
from untuned.reports.tables.saving import save_all as save_all
from untuned.reports.tables.summaries import improvement as improvement
from untuned.reports.tables.summaries import profile as profile
from untuned.reports.tables.summaries import summaries as summaries
from untuned.reports.tables.table import Table as Table
