"""Operations that invite workers: not MTurk's, and only for requesters with the permission."""

from typing import Any

from django.conf import settings

from marketplace.actions.workers import invitation_create
from marketplace.api.operations.paging import listing
from marketplace.models import Invitation, Requester
from marketplace.rules.errors import RequestError
from marketplace.selectors.links import sign_up_link


def create_invitation(caller: Requester, params: dict[str, Any]) -> dict[str, Any]:
    _check(caller)
    invitation, code = invitation_create(
        places=params["Places"], days=params["Days"], note=params.get("Note", ""), requester=caller
    )
    # The code is shown only once: only its hash is stored.
    return {"Invitation": _shown(invitation), "SignUpURL": sign_up_link(code)}


def list_invitations(caller: Requester, params: dict[str, Any]) -> dict[str, Any]:
    _check(caller)
    rows = Invitation.objects.filter(requester=caller)
    page, answer = listing(caller, "ListInvitations", params, rows, order=("-pk",))
    return {**answer, "Invitations": [_shown(invitation) for invitation in page]}


def get_sign_up_link(caller: Requester, params: dict[str, Any]) -> dict[str, Any]:
    _check(caller)
    return {"SignUpURL": sign_up_link(), "IsOpen": settings.MARKETPLACE_OPEN_SIGN_UP}


def _check(caller: Requester) -> None:
    if not caller.may_invite:
        raise RequestError(
            "PermissionDeniedException",
            "This requester may not invite workers. The marketplace's operator can allow it.",
        )


def _shown(invitation: Invitation) -> dict[str, Any]:
    return {
        "InvitationId": str(invitation.pk),
        "Note": invitation.note,
        "PlacesLeft": invitation.places,
        "CreationTime": invitation.created_at,
        "Expiration": invitation.expires_at,
    }
