"""What the guard and the console agree on about browsers."""

import ipaddress

# With the prefix a browser itself sees to it that the cookie is Secure, for this host alone.
COOKIE = "__Host-armka"
# Plain HTTP, on the loopback: what travels never leaves the machine.
COOKIE_ON_LOOPBACK = "armka"

FORM_FIELD = "form_token"
FORM_HEADER = "x-form-token"

SIGN_IN = "/console/sign-in"


def origin_of(scheme: str, host: str, public: str | None) -> str:
    """The origin under which a browser has our pages open: PUBLIC_URL's, else as it asks."""
    return public or f"{scheme}://{host}"


def is_secure(origin: str) -> bool:
    """Whether what travels to this origin is encrypted."""
    return origin.startswith("https:")


def cookie_name(origin: str) -> str:
    """The cookie of the session."""
    return COOKIE if is_secure(origin) else COOKIE_ON_LOOPBACK


def is_loopback(host: str) -> bool:
    """Whether a `Host` is this very machine, as its owner calls it."""
    name = _name(host)
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return name == "localhost" or name.endswith(".localhost")


def is_private(host: str) -> bool:
    """Whether a `Host` is no name that a stranger can let lead here (DNS rebinding)."""
    name = _name(host)
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return "." not in name or name.endswith(".localhost")
    return True


def _name(host: str) -> str:
    name = host if host.endswith("]") else host.rsplit(":", 1)[0]
    return name.strip("[]").lower()
