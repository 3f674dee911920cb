def mean_texts(*numbers: float | None) -> tuple[str, ...]:
    return tuple("–" if n is None else f"{n:,.2f}" for n in numbers)
