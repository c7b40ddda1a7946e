"""Words that an attacker would try first on this site; a password must be more than one of them."""

from django.contrib.auth.models import AbstractBaseUser
from django.core.exceptions import ValidationError

# docs/security.md lists them.
CONTEXT_WORDS = (
    *("chainbox", "flickr30k", "flickr", "mturk", "mechanicalturk", "annotation", "annotator"),
    *("marketplace", "requester", "researcher", "reviewer", "worker", "grounding", "password"),
)
# An attacker has to guess only the characters besides such a word.
LEAST_BESIDES = 6


class ContextWordsValidator:
    """Refuses a password that is little more than a word of the site."""

    def validate(self, password: str, user: AbstractBaseUser | None = None) -> None:
        """Raise ValidationError if too little is left without the words of the site."""
        rest = password.casefold()
        for word in CONTEXT_WORDS:
            rest = rest.replace(word, "")
        if rest != password.casefold() and len(rest) < LEAST_BESIDES:
            raise ValidationError(self.get_help_text(), code="password_context_word")

    def get_help_text(self) -> str:
        """Return the rule in words."""
        return "Your password is too close to a word that is easy to guess for this site."
