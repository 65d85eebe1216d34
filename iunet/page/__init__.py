"""The report: one self-contained HTML page made of table documents, figures and run facts."""
