"""Tools for bibliographies, and the bibliographies of a workspace that they and routes share."""
