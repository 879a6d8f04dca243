"""Search of the web through the services that the user set up."""
