"""When a server distinguishes its users, and who then owns which conversations."""

from typing import Any

import pytest
from jupyter_server.auth import User
from jupyter_server.auth.identity import (
    IdentityProvider,
    LegacyIdentityProvider,
    PasswordIdentityProvider,
)
from jupyter_server.auth.login import LoginFormHandler
from tornado.web import RequestHandler

from jupyter_ai_shoulders.server.auth.user_identity import ANONYMOUS, identifies_people, owner_of
from tests.server.multi_user import ByHeader


class NamingLogin(LoginFormHandler):
    """A login form that could set a cookie with a name."""


@pytest.mark.parametrize(
    ("provider", "identifies"),
    [
        pytest.param(IdentityProvider(token="t"), False, id="token"),
        pytest.param(PasswordIdentityProvider(token="t"), False, id="password"),
        pytest.param(LegacyIdentityProvider(token="t"), False, id="handlers of version 1"),
        pytest.param(ByHeader(), True, id="own provider"),
        pytest.param(IdentityProvider(login_handler_class=NamingLogin), True, id="own login"),
    ],
)
def test_only_providers_that_can_name_people_tell_them_apart(
    provider: IdentityProvider, identifies: bool
) -> None:
    assert identifies_people(provider) is identifies


def test_random_names_are_one_owner_and_all_other_names_are_their_own() -> None:
    handler: Any = RequestHandler.__new__(RequestHandler)
    handler.log = IdentityProvider().log
    random = [IdentityProvider().generate_anonymous_user(handler) for _ in range(2)]
    named = User("ann")
    hexadecimal = User(random[0].username)  # an identity of a single sign-on service

    assert random[0].username != random[1].username
    assert [owner_of(user) for user in random] == [ANONYMOUS, ANONYMOUS]
    assert owner_of(named) == "ann"
    assert owner_of(hexadecimal) == random[0].username
