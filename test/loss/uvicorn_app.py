# The server of uvicorn, to compare with: the works of works.mjs, ended by SIGTERM and
# `timeout_graceful_shutdown`, as its documentation says. Argument: { "graceMs", "port", "tls": null
# or { "key", "cert" } } as JSON. Prints its port.
import asyncio
import json
import sys
import time
from urllib.parse import parse_qs

import uvicorn

TICK = 0.1
TOKENS = 60


def newest_event():
    return int(time.time() / TICK)


async def read(receive):
    size = 0
    while True:
        message = await receive()
        size += len(message.get("body", b""))
        if message["type"] == "http.disconnect" or not message.get("more_body"):
            return size


async def send_text(send, text):
    body = text.encode()
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", str(len(body)).encode())]})
    await send({"type": "http.response.body", "body": body})


async def send_stream(send, parts):
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/event-stream")]})
    async for part in parts:
        await send({"type": "http.response.body", "body": part.encode(), "more_body": True})
    await send({"type": "http.response.body", "body": b""})


async def events(last, left):
    yield ": events\n\n"
    while not left.is_set():
        while last < newest_event():
            last += 1
            yield f"id: {last}\ndata: {last}\n\n"
        await asyncio.sleep(TICK)


async def tokens():
    for token in range(1, TOKENS + 1):
        yield f"data: {token}\n\n"
        await asyncio.sleep(TICK)
    yield "data: [DONE]\n\n"


async def note_disconnect(receive, left):
    while (await receive())["type"] != "http.disconnect":
        pass
    left.set()


async def web_socket(receive, send):
    await receive()
    await send({"type": "websocket.accept"})
    while True:
        message = await receive()
        if message["type"] == "websocket.disconnect":
            return
        await send({"type": "websocket.send", "text": message.get("text") or message["bytes"].decode()})


async def app(scope, receive, send):
    if scope["type"] == "websocket":
        return await web_socket(receive, send)
    if scope["path"] == "/events":
        asked = dict(scope["headers"]).get(b"last-event-id")
        left = asyncio.Event()
        watching = asyncio.create_task(note_disconnect(receive, left))
        try:
            return await send_stream(send, events(int(asked) if asked else newest_event(), left))
        finally:
            watching.cancel()
    if scope["path"] == "/stream":
        return await send_stream(send, tokens())
    if scope["path"] == "/readyz":
        return await send_text(send, "ok")
    query = parse_qs(scope["query_string"].decode())
    size = await read(receive)
    wait = int(query.get("ms", ["0"])[0])
    if wait > 0:
        await asyncio.sleep(wait / 1000)
    await send_text(send, f"{query['n'][0]} {size}")


class Server(uvicorn.Server):
    async def startup(self, sockets=None):
        await super().startup(sockets=sockets)
        print(self.servers[0].sockets[0].getsockname()[1], flush=True)


given = json.loads(sys.argv[1])
tls = given["tls"] and {"ssl_keyfile": given["tls"]["key"], "ssl_certfile": given["tls"]["cert"]}
config = uvicorn.Config(
    app,
    host="127.0.0.1",
    port=given["port"],
    lifespan="off",
    log_level="critical",
    timeout_graceful_shutdown=given["graceMs"] // 1000,
    **(tls or {}),
)
Server(config).run()
