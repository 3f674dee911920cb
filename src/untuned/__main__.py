"""``python -m untuned``: the same program as ``untuned``."""

from untuned.cli.main import main

if __name__ == "__main__":
    main()
