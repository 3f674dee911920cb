"""Private. Reading score files: CSV, TSV, JSON lines and Parquet."""
