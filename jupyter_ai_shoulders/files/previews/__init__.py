"""Previews of documents that are not plain text, such as spreadsheets, PDFs and Parquet files."""
