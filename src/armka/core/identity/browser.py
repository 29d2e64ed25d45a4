"""What the guard and the console agree on about browsers."""

# With the prefix a browser itself sees to it that the cookie is Secure, for this host alone.
COOKIE = "__Host-armka"
# Plain HTTP, on the loopback: what travels never leaves the machine.
COOKIE_ON_LOOPBACK = "armka"

FORM_FIELD = "form_token"
FORM_HEADER = "x-form-token"

SIGN_IN = "/console/sign-in"
