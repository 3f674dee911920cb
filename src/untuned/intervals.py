"""Confidence intervals for one sample of scores, and `Method` for your own interval method."""

from untuned.judge.intervals.dkw import Band as Band
from untuned.judge.intervals.dkw import band as band
from untuned.judge.intervals.dkw import mean_interval as mean_interval
from untuned.judge.intervals.median import median_interval as median_interval
from untuned.judge.intervals.method import Method as Method
from untuned.judge.methods import register as register
