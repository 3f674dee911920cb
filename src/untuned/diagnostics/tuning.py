"""What scores cannot show: whether hyperparameters were tuned."""

from untuned.diagnostics.finding import Finding
from untuned.diagnostics.sample import Sample


def tuned(sample: Sample) -> Finding | None:
    """Say that tuning cannot be seen in scores. Always reported for a table that has any."""
    if not sample.cells:
        return None
    return Finding(
        "tuned",
        "note",
        "Scores do not show whether hyperparameters were tuned for each environment.",
        "If they were, the verdict is about tuned algorithms, and the cost of tuning is not in it.",
        "Say how hyperparameters were chosen wherever you report the verdict.",
    )
