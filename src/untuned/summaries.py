"""Other common summaries, all approximate: interquartile mean, optimality gap, probability of improvement.

`summarize` normalises scores and returns statistics with bootstrap intervals, with the guaranteed verdicts of the same
scores. A statistic is a name or any function of an algorithm's normalised scores.
"""

from untuned.api import summarize as summarize
from untuned.collect.runner.random_policies import random_policies as random_policies
from untuned.judge.summaries.normalisations import AsTheyAre as AsTheyAre
from untuned.judge.summaries.normalisations import MinMax as MinMax
from untuned.judge.summaries.normalisations import Normalisation as Normalisation
from untuned.judge.summaries.normalisations import Percentiles as Percentiles
from untuned.judge.summaries.normalisations import PolicyPercentiles as PolicyPercentiles
from untuned.judge.summaries.normalisations import Ratio as Ratio
from untuned.judge.summaries.normalisations import References as References
from untuned.judge.summaries.normalisations import Scale as Scale
from untuned.judge.summaries.records import Improvement as Improvement
from untuned.judge.summaries.records import Profile as Profile
from untuned.judge.summaries.records import Summaries as Summaries
from untuned.judge.summaries.records import Summary as Summary
from untuned.judge.summaries.statistics import Statistic as Statistic
