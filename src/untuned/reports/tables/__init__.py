"""Private. Tables as Markdown, LaTeX and CSV; `untuned.tables` is the public module."""
