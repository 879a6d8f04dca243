"""Determines whether a server distinguishes its users, and the owner of each user's conversations.

Used by ``server.extension_services`` and the handlers. A hub always distinguishes users. Elsewhere
it depends on the identity provider: Jupyter's own ones check a token or a password, which several
people may share, and give each browser a random name that is lost with its cookie.
"""

from __future__ import annotations

from jupyter_server.auth import IdentityProvider, User
from jupyter_server.auth.identity import LegacyIdentityProvider, PasswordIdentityProvider
from jupyter_server.auth.login import LegacyLoginHandler, LoginFormHandler

ANONYMOUS = "(anonymous)"
"""Owner of the conversations of everyone with the server's token but no name. One for all: a script
with a token gets a new random name with each request.
"""

_WITHOUT_NAMES = (IdentityProvider, PasswordIdentityProvider, LegacyIdentityProvider)
_WITHOUT_NAMES_LOGIN = (LoginFormHandler, LegacyLoginHandler)
_RANDOM_NAME_LENGTH = 32


def identifies_people(provider: IdentityProvider) -> bool:
    """Return whether the identity provider can name different people.

    A login handler can: Jupyter's own providers read the cookie it sets.
    """
    return (
        type(provider) not in _WITHOUT_NAMES
        or provider.login_handler_class not in _WITHOUT_NAMES_LOGIN
    )


def owner_of(user: User) -> str:
    """Return the owner of a user's sessions, where users are distinguished."""
    return ANONYMOUS if _is_random(user) else user.username


def _is_random(user: User) -> bool:
    """Return whether ``IdentityProvider.generate_anonymous_user`` made the name."""
    name = user.username
    return (
        len(name) == _RANDOM_NAME_LENGTH
        and all(character in "0123456789abcdef" for character in name)
        and user.name.startswith("Anonymous ")
    )
