"""Servers in operator mode: one user who may do everything, or what `armka nats-setup` wrote."""

import time
from pathlib import Path

from armka.messaging.setup.keys import (
    ACCOUNT,
    OPERATOR,
    USER,
    Key,
    account_claims,
    operator_claims,
    user_claims,
)


class OperatorMode:
    """Keys of an operator, and the configuration of a server that knows them."""

    def __init__(self) -> None:
        self.operator, self.account = Key.new(OPERATOR), Key.new(ACCOUNT)
        system = Key.new(ACCOUNT)
        own = self.operator.issue(self.operator.public, "o", operator_claims(system.public))
        preload = "\n".join(
            f"{key.public}: {self.operator.issue(key.public, 'a', account_claims(jetstream=js))}"
            for key, js in ((self.account, True), (system, False))
        )
        self.config = (
            f"operator: {own}\nsystem_account: {system.public}\n"
            f"resolver: MEMORY\nresolver_preload: {{\n{preload}\n}}\n"
        )

    def user(
        self,
        *,
        seconds: float | None = None,
        age_seconds: float = 0,
        publish: tuple[str, ...] = (">",),
        subscribe: tuple[str, ...] = (">",),
    ) -> dict[str, str]:
        """The settings of a new user, who is let in for so long."""
        key = Key.new(USER)
        claims = user_claims(publish, subscribe, answers=False)
        jwt = self.account.issue(
            key.public, f"user {time.time_ns()}", claims, seconds, age_seconds=age_seconds
        )
        return {"OPENBAO__NATS__NATS_SEED": key.seed, "OPENBAO__NATS__NATS_JWT": jwt}


def pair(folder: Path, role: str) -> dict[str, str]:
    """The settings that the command wrote for a role."""
    lines = (folder / "users" / f"{role}.env").read_text().splitlines()
    return dict(line.split("=", 1) for line in lines)
