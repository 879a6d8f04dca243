"""The words for going back to an earlier state of documents."""
