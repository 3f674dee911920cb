"""Classes of the objects that functions return, for annotations and `isinstance`."""

from untuned.collect.definitions.definition import Hyperparameter as Hyperparameter
from untuned.collect.definitions.draw import Drawn as Drawn
from untuned.collect.definitions.draw import Noted as Noted
from untuned.collect.progress import Progress as Progress
from untuned.collect.session import CellStatus as CellStatus
from untuned.collect.session import Collected as Collected
from untuned.evaluation import Derived as Derived
from untuned.evaluation import HeadToHead as HeadToHead
from untuned.evaluation import Means as Means
from untuned.evaluation import PercentileTable as PercentileTable
from untuned.evaluation import Ranking as Ranking
from untuned.evaluation import Ranks as Ranks
from untuned.histories import Histories as Histories
from untuned.histories import History as History
from untuned.plans import Design as Design
from untuned.plans import Detectable as Detectable
from untuned.plans import Plan as Plan
from untuned.plans import PlannedPair as PlannedPair
from untuned.reproduction.agreement import Agreement as Agreement
from untuned.reproduction.agreement import MeanBeside as MeanBeside
from untuned.reproduction.agreement import RateBeside as RateBeside
from untuned.reproduction.agreement import ScoreBeside as ScoreBeside
from untuned.reproduction.conclusions import Conclusion as Conclusion
from untuned.reproduction.published import Entry as Entry
from untuned.reproduction.result import Reproduction as Reproduction
from untuned.verdicts import Pairs as Pairs
