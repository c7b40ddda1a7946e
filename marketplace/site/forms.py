"""The forms of the worker site, except question forms."""

from typing import Any

from django import forms
from django.contrib.auth.models import User
from django.contrib.auth.password_validation import validate_password
from django.contrib.auth.validators import UnicodeUsernameValidator
from django.core.exceptions import ValidationError
from django.http import HttpRequest

from common.accounts.forms import own_password_clean
from marketplace.rules.countries import COUNTRIES, STATES
from marketplace.selectors.browse import SORTS, Filter

_COUNTRY_CHOICES = [("", "Choose a country"), *COUNTRIES.items()]
_STATE_CHOICES = [("", "None, or prefer not to say"), *STATES.items()]


class AboutForm(forms.Form):
    """The details that requirements can ask about a worker."""

    country = forms.ChoiceField(choices=_COUNTRY_CHOICES, label="Country you live in")
    subdivision = forms.ChoiceField(
        choices=_STATE_CHOICES, required=False, label="State, if you live in the United States"
    )
    is_adult = forms.BooleanField(
        required=False,
        label="I am an adult and willing to see HITs with adult content",
    )

    def clean(self) -> dict[str, Any]:
        """Clear the state of a worker who lives outside the United States."""
        cleaned = super().clean() or {}
        if cleaned.get("country") != "US":
            cleaned["subdivision"] = ""
        return cleaned


class JoinForm(AboutForm):
    """Consent, for somebody who has an account."""

    agrees = forms.BooleanField(
        label="I have read the terms and agree to them",
        error_messages={"required": "You must agree to the terms to work here."},
    )


class SignUpForm(JoinForm):
    """A new account."""

    username = forms.CharField(
        max_length=150,
        validators=[UnicodeUsernameValidator()],
        help_text="Letters, digits and @ . + - _ only. Requesters never see it.",
        widget=forms.TextInput(attrs={"autocomplete": "username", "autocapitalize": "none"}),
    )
    email = forms.EmailField(
        required=False,
        label="E-mail address (optional)",
        help_text="Requesters never see it.",
        widget=forms.EmailInput(attrs={"autocomplete": "email"}),
    )
    password = forms.CharField(
        strip=False,
        help_text="At least 10 characters.",
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
    )
    password_again = forms.CharField(
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
    )
    code = forms.CharField(required=False, max_length=100, widget=forms.HiddenInput())
    field_order = (
        "username",
        "password",
        "password_again",
        "email",
        "country",
        "subdivision",
        "is_adult",
        "agrees",
        "code",
    )

    def clean_username(self) -> str:
        """Refuse a name that is taken, ignoring case."""
        name = str(User.normalize_username(self.cleaned_data["username"]))
        if User.objects.filter(username__iexact=name).exists():
            raise ValidationError("This name is taken. Please choose another.")
        return name

    def clean(self) -> dict[str, Any]:
        """Check the passwords against each other and against the site's rules."""
        cleaned = super().clean()
        password = cleaned.get("password")
        if password and password != cleaned.get("password_again"):
            self.add_error("password_again", "The two passwords differ.")
        elif password:
            about = User(username=cleaned.get("username", ""), email=cleaned.get("email", ""))
            try:
                validate_password(password, about)
            except ValidationError as error:
                self.add_error("password", error)
        return cleaned


class EraseForm(forms.Form):
    """The password again, before everything is erased."""

    password = forms.CharField(
        strip=False, widget=forms.PasswordInput(attrs={"autocomplete": "current-password"})
    )

    def __init__(self, request: HttpRequest, user: User, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.request = request
        self.user = user

    def clean_password(self) -> str:
        """Refuse a wrong password, and too many attempts."""
        return own_password_clean(
            self.request,
            self.user,
            str(self.cleaned_data["password"]),
            wrong="This is not your current password.",
        )


class BrowseForm(forms.Form):
    """The search form."""

    text = forms.CharField(
        required=False,
        max_length=100,
        label="Search",
        widget=forms.TextInput(
            attrs={"type": "search", "placeholder": "Title, keyword, requester"}
        ),
    )
    reward = forms.DecimalField(
        required=False,
        min_value=0,
        max_value=100_000,
        max_digits=8,
        decimal_places=2,
        label="Reward at least ($)",
        widget=forms.NumberInput(attrs={"step": "0.01", "inputmode": "decimal"}),
    )
    sort = forms.ChoiceField(choices=list(SORTS.items()), required=False, label="Order")
    qualified = forms.BooleanField(required=False, label="Only HITs I qualify for")

    def wanted(self) -> Filter:
        """Return the filter; leave out invalid values."""
        self.is_valid()
        found = self.cleaned_data
        return Filter(
            text=found.get("text") or "",
            minimum_cents=int((found.get("reward") or 0) * 100),
            qualified_only=bool(found.get("qualified")),
            sort=found.get("sort") or "newest",
        )
