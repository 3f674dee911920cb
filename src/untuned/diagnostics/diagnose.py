"""All checks, run on one table."""

from collections.abc import Callable

from untuned.diagnostics.alike import alike_environments
from untuned.diagnostics.axes import swapped_axes
from untuned.diagnostics.copies import copied_environments, identical_algorithms
from untuned.diagnostics.counts import failed_trials, few_runs, missing_cells, unequal_runs
from untuned.diagnostics.dependence import curve_as_runs
from untuned.diagnostics.finding import SEVERITIES, Finding
from untuned.diagnostics.names import similar_names
from untuned.diagnostics.order import sorted_rows
from untuned.diagnostics.repeats import repeated_runs
from untuned.diagnostics.sample import Sample
from untuned.diagnostics.seeds import shared_seeds
from untuned.diagnostics.tuning import tuned
from untuned.diagnostics.values import constant_cells, suspicious_rounding
from untuned.scores import ScoreTable

Check = Callable[[Sample], Finding | None]

#: All checks by the code of their finding; equally serious findings are reported in this order.
CHECKS: dict[str, Check] = {
    "repeated-runs": repeated_runs,
    "swapped-axes": swapped_axes,
    "curve-as-runs": curve_as_runs,
    "sorted-rows": sorted_rows,
    "similar-names": similar_names,
    "failed-trials": failed_trials,
    "missing-cells": missing_cells,
    "identical-algorithms": identical_algorithms,
    "copied-environments": copied_environments,
    "shared-seeds": shared_seeds,
    "unequal-runs": unequal_runs,
    "few-runs": few_runs,
    "constant-cells": constant_cells,
    "suspicious-rounding": suspicious_rounding,
    "alike-environments": alike_environments,
    "tuned": tuned,
}

#: Findings that another finding explains, so they are not reported: environments that are passed as trials follow a
#: pattern, and curves that all rise look like copies and are correlated; copies are alike.
_EXPLAINED_BY = {
    "curve-as-runs": ("swapped-axes",),
    "copied-environments": ("swapped-axes", "curve-as-runs"),
    "shared-seeds": ("swapped-axes", "curve-as-runs"),
    "alike-environments": ("swapped-axes", "copied-environments"),
}


def diagnose(table: ScoreTable) -> tuple[Finding, ...]:
    """Return the findings of all checks, most serious first. The same table gives the same findings."""
    sample = Sample(table)
    found = [finding for check in CHECKS.values() if (finding := check(sample)) is not None]
    codes = {finding.code for finding in found}
    told = [each for each in found if codes.isdisjoint(_EXPLAINED_BY.get(each.code, ()))]
    return tuple(sorted(told, key=lambda finding: SEVERITIES.index(finding.severity)))
