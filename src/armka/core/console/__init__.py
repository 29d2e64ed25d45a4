"""The console: pages of plain HTML, made by the server from what the API's own parts say.

`application` joins the pages and mounts them; `pages` renders; `words` speaks Russian and English.
What a button does, the API and the command line do too.
"""
