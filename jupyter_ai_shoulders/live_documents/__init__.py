"""Parts that open notebooks and open texts share: claims, requests to pages, file watch."""
