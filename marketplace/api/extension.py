"""Operations that MTurk never had, in the form of botocore's models: inviting workers."""

from typing import Any

PREFIX = "ChainboxMarketplaceV1"
MOST_PLACES = 10_000
MOST_DAYS = 365

_STRUCTURES: dict[str, dict[str, Any]] = {
    "CreateInvitationRequest": {
        "required": ["Places", "Days"],
        "members": {"Places": "Places", "Days": "Days", "Note": "Note"},
    },
    "CreateInvitationResponse": {"members": {"Invitation": "Invitation", "SignUpURL": "String"}},
    "ListInvitationsRequest": {"members": {"NextToken": "Token", "MaxResults": "ResultSize"}},
    "ListInvitationsResponse": {
        "members": {"NextToken": "Token", "NumResults": "Integer", "Invitations": "Invitations"}
    },
    "GetSignUpLinkRequest": {"members": {}},
    "GetSignUpLinkResponse": {"members": {"SignUpURL": "String", "IsOpen": "Boolean"}},
    "Invitation": {
        "members": {
            "InvitationId": "String",
            "Note": "String",
            "PlacesLeft": "Integer",
            "CreationTime": "Timestamp",
            "Expiration": "Timestamp",
        }
    },
}


def _structure(content: dict[str, Any]) -> dict[str, Any]:
    members = {name: {"shape": shape} for name, shape in content["members"].items()}
    return {"type": "structure", "required": content.get("required", []), "members": members}


EXTENSION: dict[str, Any] = {
    "version": "2.0",
    "metadata": {
        "apiVersion": "2017-01-17",
        "jsonVersion": "1.1",
        "protocol": "json",
        "serviceId": "ChainboxMarketplace",
        "signatureVersion": "v4",
        "targetPrefix": PREFIX,
    },
    "operations": {
        name: {
            "name": name,
            "http": {"method": "POST", "requestUri": "/"},
            "input": {"shape": f"{name}Request"},
            "output": {"shape": f"{name}Response"},
        }
        for name in ("CreateInvitation", "ListInvitations", "GetSignUpLink")
    },
    "shapes": {
        "Places": {"type": "integer", "min": 1, "max": MOST_PLACES},
        "Days": {"type": "integer", "min": 1, "max": MOST_DAYS},
        "Note": {"type": "string", "max": 100},
        "Token": {"type": "string", "min": 1, "max": 255},
        "ResultSize": {"type": "integer", "min": 1, "max": 100},
        "Integer": {"type": "integer"},
        "String": {"type": "string"},
        "Boolean": {"type": "boolean"},
        "Timestamp": {"type": "timestamp"},
        "Invitations": {"type": "list", "member": {"shape": "Invitation"}},
        **{name: _structure(content) for name, content in _STRUCTURES.items()},
    },
}
