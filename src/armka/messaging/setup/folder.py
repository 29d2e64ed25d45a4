"""The files of a NATS in operator mode: keys, what the server reads, what each user gets.

- keys/*.nk: seeds, to be kept where nobody else comes; the server needs none of them
- accounts.conf: included by the server's configuration; no secret
- users/NAME.creds: for `nats` and client libraries
- users/NAME.env: for the environment of `armka`
- users/NAME.json: for OpenBao, `bao kv put -mount=kv PATH/supersecrets @NAME.json`
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from armka.messaging.setup.keys import (
    ACCOUNT,
    OPERATOR,
    USER,
    Key,
    account_claims,
    operator_claims,
    user_claims,
)
from armka.messaging.setup.roles import Role

_SECONDS_A_DAY = 86_400


class FolderNotOurs(Exception):
    """The folder holds something, and no keys of ours: it is left alone."""

    def __init__(self, folder: Path) -> None:
        super().__init__(
            f"{folder} is not empty and holds no keys/operator.nk: give a new folder, or the one "
            "that this command made"
        )
        self.folder = folder


@dataclass(frozen=True)
class Made:
    """What a run wrote: the server's file, and each user's, without the ending."""

    accounts: Path
    users: list[Path]
    is_new: bool


def write(folder: Path, users: Sequence[Role], *, days: float) -> Made:
    """Make keys where there are none, and issue every user a JWT for so many days.

    Keys that are there stay, so a second run only prolongs; a key that was deleted is made anew,
    and its JWTs with it. Raises FolderNotOurs, OSError.
    """
    keys = folder / "keys"
    is_new = not (keys / "operator.nk").exists()
    if is_new and folder.exists() and any(folder.iterdir()):
        raise FolderNotOurs(folder)
    for part in (folder, keys, folder / "users"):
        part.mkdir(mode=0o700, parents=True, exist_ok=True)
    account = _key(keys / "account.nk", ACCOUNT)
    accounts = folder / "accounts.conf"
    _write(accounts, _accounts(keys, account), 0o644)
    made = []
    for role in users:
        key = _key(keys / f"user-{role.name}.nk", USER)
        claims = user_claims(role.publish, role.subscribe, answers=role.answers)
        jwt = account.issue(key.public, role.name, claims, days * _SECONDS_A_DAY)
        made.append(folder / "users" / role.name)
        for ending, content in _forms(key.seed, jwt).items():
            _write(folder / "users" / f"{role.name}.{ending}", content, 0o600)
    return Made(accounts, made, is_new)


def _accounts(keys: Path, account: Key) -> str:
    operator, system = _key(keys / "operator.nk", OPERATOR), _key(keys / "system.nk", ACCOUNT)
    jwt = operator.issue(operator.public, "arm-ka", operator_claims(system.public))
    preload = [
        (account.public, operator.issue(account.public, "ARM", account_claims(jetstream=True))),
        (system.public, operator.issue(system.public, "SYS", account_claims(jetstream=False))),
    ]
    lines = "\n".join(f"  {public}: {token}" for public, token in preload)
    return (
        "# Written by `armka nats-setup`. Public: JWTs of the operator and of the accounts.\n"
        f"operator: {jwt}\n"
        f"system_account: {system.public}\n"
        f"resolver: MEMORY\n"
        f"resolver_preload: {{\n{lines}\n}}\n"
    )


def _forms(seed: str, jwt: str) -> dict[str, str]:
    fields = {"NATS__NATS_SEED": seed, "NATS__NATS_JWT": jwt}
    return {
        "creds": (
            f"-----BEGIN NATS USER JWT-----\n{jwt}\n------END NATS USER JWT------\n\n"
            f"-----BEGIN USER NKEY SEED-----\n{seed}\n------END USER NKEY SEED------\n"
        ),
        "env": "".join(f"OPENBAO__{name}={value}\n" for name, value in fields.items()),
        "json": msgspec.json.encode(fields).decode() + "\n",
    }


def _key(path: Path, kind: int) -> Key:
    if path.exists():
        return Key(path.read_text().strip())
    key = Key.new(kind)
    _write(path, key.seed + "\n", 0o600)
    return key


def _write(path: Path, text: str, mode: int) -> None:
    """So that a reader sees the old or the new file, and nobody else may read a secret one."""
    part = path.with_name(f".{path.name}.part")
    part.unlink(missing_ok=True)
    with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "w") as file:
        file.write(text)
    part.replace(path)
