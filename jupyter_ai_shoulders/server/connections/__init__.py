"""Browser pages connected over the page socket."""
