"""Run the example notebooks as they are read: from top to bottom, in a kernel of this Python.

python tests/support/notebooks.py          # run all of them and write their outputs again
"""

import re
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).parents[2] / "examples" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def read(path: Path) -> Any:
    """Return a notebook as it is in its file."""
    return nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]


def executed(path: Path, folder: Path) -> Any:
    """Return the notebook with the outputs it has when it is run in ``folder``; a cell that fails raises."""
    notebook = read(path)
    client = NotebookClient(
        notebook,
        timeout=300,
        kernel_name="python3",
        record_timing=False,
        coalesce_streams=True,
        resources={"metadata": {"path": str(folder)}},
    )
    client.execute()
    # What the kernel says of itself depends on its version.
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    return notebook


def texts(notebook: Any) -> list[str]:
    """Return everything that cells print or show as text, in order; addresses of objects are left out."""
    found = []
    for cell in notebook.cells:
        if cell.cell_type == "code":
            for output in cell.outputs:
                text = output.get("text") or output.get("data", {}).get("text/plain", "")
                found.append(re.sub(r"\b0x[0-9a-f]+", "0x", "".join(text)))
    return found


def complaints(notebook: Any) -> list[str]:
    """Return what cells wrote to the standard error, warnings among it."""
    return [
        str(output.get("text", output.get("ename")))
        for cell in notebook.cells
        if cell.cell_type == "code"
        for output in cell.outputs
        if output.get("output_type") == "error" or output.get("name") == "stderr"
    ]


def main() -> None:
    """Write the outputs of all notebooks again."""
    import tempfile

    for path in NOTEBOOKS:
        with tempfile.TemporaryDirectory() as folder:
            notebook = executed(path, Path(folder))
        assert not complaints(notebook), complaints(notebook)
        nbformat.write(notebook, path)  # type: ignore[no-untyped-call]
        print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
