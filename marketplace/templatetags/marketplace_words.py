"""Money and spans of time as the worker site writes them."""

from django import template

from marketplace.rules import money, words

register = template.Library()


@register.filter
def dollars(cents: int | None) -> str:
    """Write cents as an amount: 5 is $0.05."""
    return f"${money.dollars(cents or 0)}"


@register.filter
def duration(seconds: int | None) -> str:
    """Write seconds as, say, 1 hour 30 minutes."""
    return words.duration_words(int(seconds or 0))


@register.filter
def kind(part: object) -> str:
    """Return the kind of a question part's content."""
    return type(part).__name__
