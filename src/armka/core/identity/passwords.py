"""Passwords: Argon2id, in threads, few at a time: each takes 64 MiB for a moment."""

import asyncio

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from armka.core.errors import PasswordUnfit

SHORTEST, LONGEST = 12, 256
_AT_ONCE = 2


class Passwords:
    """Makes and checks hashes."""

    def __init__(self) -> None:
        self._hasher = PasswordHasher()
        self._room = asyncio.Semaphore(_AT_ONCE)
        self._decoy: str | None = None

    async def hash(self, password: str, name: str) -> str:
        """Hash a new password; raises PasswordUnfit."""
        if not SHORTEST <= len(password) <= LONGEST:
            raise PasswordUnfit("LENGTH", f"A password has {SHORTEST} to {LONGEST} characters.")
        if name.lower() in password.lower():
            raise PasswordUnfit("NAME", "A password does not hold its owner's name.")
        if len(set(password)) < SHORTEST // 2:
            raise PasswordUnfit("PLAIN", "A password is no few characters said again and again.")
        async with self._room:
            return await asyncio.to_thread(self._hasher.hash, password)

    async def matches(self, password: str, kept: str | None) -> bool:
        """Check a password. Where there is none to match, it takes as long and says no."""
        async with self._room:
            if kept is None:
                self._decoy = self._decoy or await asyncio.to_thread(self._hasher.hash, "decoy")
            agrees = await asyncio.to_thread(self._verify, kept or self._decoy or "", password)
        return agrees and kept is not None

    def _verify(self, kept: str, password: str) -> bool:
        try:
            return self._hasher.verify(kept, password[: LONGEST + 1])
        except (VerificationError, InvalidHashError):
            return False
