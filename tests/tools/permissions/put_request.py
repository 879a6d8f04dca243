"""The body of ``PUT tools/permissions``, of which a test names what it is about."""

from jupyter_ai_shoulders.wire.api.commands import PutPermissions, RuleBody


def put_permissions(
    disabled: tuple[str, ...] = (),
    rules: tuple[RuleBody, ...] = (),
    *,
    disable_external: bool = False,
) -> PutPermissions:
    """Return the whole list."""
    return PutPermissions(disabled=disabled, rules=rules, disable_external=disable_external)
