"""``python -m untuned``: the same program as ``untuned``."""

if __name__ == "__main__":
    import sys

    if not sys.flags.safe_path:
        # Python puts the current folder first: a file there would replace a standard or an installed module.
        del sys.path[0]

    from untuned.cli.main import main

    main()
