"""What the API and the console both hang into the server."""

from collections.abc import Callable

from starlette.types import ASGIApp, Message, Receive, Scope, Send


class LastResort:
    """Answers for every error that nothing else answered for, where no answer was begun.

    A handler for Exception would answer too, and then raise: each outage of a server would be
    logged as a failure of this one.
    """

    def __init__(self, app: ASGIApp, answer: Callable[[Scope, Exception], ASGIApp]) -> None:
        self._app = app
        self._answer = answer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        has_begun = False

        async def watched(message: Message) -> None:
            nonlocal has_begun
            has_begun = True
            await send(message)

        try:
            await self._app(scope, receive, watched)
        except Exception as error:
            if has_begun:
                raise
            await self._answer(scope, error)(scope, receive, send)
