"""A table document as CSV, Markdown, HTML and LaTeX."""
