"""Moving money: balanced, only once, and never below zero."""

from django.db import transaction
from django.db.models import F

from marketplace.models import HIT, Account, AccountKind, Posting, Requester, Transaction, Worker
from marketplace.rules.errors import RequestError
from marketplace.rules.money import dollars


def requester_account(requester: Requester, kind: AccountKind) -> Account:
    return Account.objects.get_or_create(kind=kind, requester=requester)[0]


def worker_account(worker: Worker) -> Account:
    return Account.objects.get_or_create(kind=AccountKind.EARNINGS, worker=worker)[0]


def house_account(kind: AccountKind) -> Account:
    return Account.objects.get_or_create(kind=kind, requester=None, worker=None)[0]


def accounts_lock(*, hit: HIT, worker: Worker) -> None:
    """Lock every account that paying for a HIT can touch, in the order of their numbers.

    Call this before you move money more than once in a transaction. Each movement locks its own
    accounts in order, but several movements together would not.
    """
    accounts = [
        requester_account(hit.requester, AccountKind.AVAILABLE),
        requester_account(hit.requester, AccountKind.HELD),
        worker_account(worker),
    ]
    if hit.fee_cents:
        accounts.append(house_account(AccountKind.FEES))
    numbers = [account.pk for account in accounts]
    list(Account.objects.select_for_update().filter(pk__in=numbers).order_by("pk"))


@transaction.atomic
def money_move(*, kind: str, key: str, postings: list[tuple[Account, int]], memo: str = "") -> bool:
    """Post a movement that sums to zero. False: it was already posted under this key.

    RequestError InsufficientFunds: an account would fall below zero; nothing is posted.
    """
    postings = [(account, cents) for account, cents in postings if cents]
    assert sum(cents for _, cents in postings) == 0, "money neither appears nor vanishes"
    if not postings:
        return False
    # Lock accounts in the order of their numbers, so that two movements cannot deadlock.
    locked = {
        account.pk: account
        for account in Account.objects.select_for_update()
        .filter(pk__in={account.pk for account, _ in postings})
        .order_by("pk")
    }
    if Transaction.objects.filter(key=key).exists():
        return False
    for account, cents in postings:
        have = locked[account.pk]
        have.balance += cents
        if have.balance < 0 and have.kind != AccountKind.OUTSIDE:
            raise RequestError(
                "InsufficientFunds",
                "This Requester has insufficient funds in their account to complete this "
                f"transaction: it needs {dollars(-cents)} and has {dollars(have.balance - cents)}.",
            )
    made = Transaction.objects.create(kind=kind, key=key, memo=memo)
    Posting.objects.bulk_create(
        Posting(transaction=made, account=locked[account.pk], cents=cents)
        for account, cents in postings
    )
    for account, cents in postings:
        Account.objects.filter(pk=account.pk).update(balance=F("balance") + cents)
    return True


def funds_add(*, requester: Requester, cents: int, key: str, memo: str = "") -> bool:
    """Add prepaid money to a requester's account."""
    return money_move(
        kind="funding",
        key=f"funding/{key}",
        memo=memo,
        postings=[
            (house_account(AccountKind.OUTSIDE), -cents),
            (requester_account(requester, AccountKind.AVAILABLE), cents),
        ],
    )


def hold_adjust(*, hit: HIT, cents: int) -> None:
    """Hold exactly this amount for a locked HIT: take more available money, or give some back."""
    more = cents - hit.held_cents
    if not more:
        return
    held = requester_account(hit.requester, AccountKind.HELD)
    available = requester_account(hit.requester, AccountKind.AVAILABLE)
    number = _next_number(f"hold/{hit.hit_id}/")
    money_move(
        kind="hold" if more > 0 else "refund",
        key=f"hold/{hit.hit_id}/{number}",
        postings=[(available, -more), (held, more)],
    )
    hit.held_cents = cents
    hit.save(update_fields=["held_cents"])


def reward_pay(*, hit: HIT, worker: Worker, assignment_id: str) -> None:
    """Pay one assignment of a locked HIT from the money held for it."""
    reward, fee = hit.hit_type.reward_cents, hit.fee_cents
    paid = money_move(
        kind="reward",
        key=f"reward/{assignment_id}/{worker.worker_id}",
        postings=[
            (requester_account(hit.requester, AccountKind.HELD), -(reward + fee)),
            (worker_account(worker), reward),
            (house_account(AccountKind.FEES), fee),
        ],
    )
    if paid:
        hit.held_cents -= reward + fee
        hit.save(update_fields=["held_cents"])


def bonus_pay(*, requester: Requester, worker: Worker, cents: int, fee: int, key: str) -> bool:
    """Pay a bonus from the available money."""
    return money_move(
        kind="bonus",
        key=f"bonus/{key}",
        postings=[
            (requester_account(requester, AccountKind.AVAILABLE), -(cents + fee)),
            (worker_account(worker), cents),
            (house_account(AccountKind.FEES), fee),
        ],
    )


def _next_number(prefix: str) -> int:
    # The HIT is locked, so two holds of one HIT are never counted at once.
    return Transaction.objects.filter(key__startswith=prefix).count() + 1
