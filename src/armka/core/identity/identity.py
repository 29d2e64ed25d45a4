"""The room's parts, joined."""

from armka.core.database.pool import Database
from armka.core.identity.accounts import Accounts
from armka.core.identity.audit import Audit
from armka.core.identity.credentials import Credentials
from armka.core.identity.passwords import Passwords
from armka.core.identity.provider import Provider
from armka.core.identity.sessions import Sessions
from armka.core.identity.settings import IdentitySettings
from armka.core.identity.sign_in import SignIn
from armka.core.identity.tokens import Tokens


class Identity:
    """Everything that has to do with who comes in."""

    def __init__(self, database: Database, settings: IdentitySettings) -> None:
        passwords = Passwords()
        self.settings = settings
        self.accounts = Accounts(database, passwords)
        self.sessions = Sessions(database, settings)
        self.sign_in = SignIn(database, self.sessions, passwords, settings)
        self.tokens = Tokens(database)
        self.audit = Audit(database)
        issuer = settings.oidc_issuer
        self.provider = (
            None if issuer is None else Provider(issuer, settings, database, self.sessions)
        )
        self.credentials = Credentials(settings, self.sessions, self.tokens, self.provider)
