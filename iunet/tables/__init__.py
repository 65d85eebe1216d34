"""The paper's tables: one function each, from the runs' JSON to CSV, Markdown and HTML."""
