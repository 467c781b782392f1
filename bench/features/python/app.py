"""One server of the feature probes: uvicorn with an application of ASGI. It speaks the protocol of
../fixture.mjs: its plan is the last argument, and what happens is told on file descriptor 3."""

import asyncio
import json
import os
import sys
import time
from urllib.parse import parse_qs

import uvicorn

plan = json.loads(sys.argv[-1])


def note(event, **more):
    line = {"at": int(time.time() * 1000), "event": event, **more}
    os.write(3, (json.dumps(line) + "\n").encode())


async def text(send, body, status=200):
    headers = [(b"content-type", b"text/plain"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body.encode()})


async def slow(scope, _receive, send):
    query = parse_qs(scope["query_string"].decode())
    note("slow begins")
    await asyncio.sleep(int(query["ms"][0]) / 1000)
    note("slow ends")
    await text(send, "done")


async def body(_scope, receive, send):
    while (await receive()).get("more_body"):
        pass
    await text(send, "read")


async def stream(_scope, _receive, send):
    headers = [(b"content-type", b"text/event-stream")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    said = b"data: begin\n\n"
    while True:
        await send({"type": "http.response.body", "body": said, "more_body": True})
        said = b"data: more\n\n"
        await asyncio.sleep(0.1)


async def crash(_scope, _receive, send):
    def fail():
        raise RuntimeError("a crash")

    asyncio.get_running_loop().call_later(0.02, fail)
    await text(send, "ok")


async def reject(_scope, _receive, send):
    async def fail():
        raise RuntimeError("a rejection")

    asyncio.get_running_loop().call_later(0.02, lambda: asyncio.ensure_future(fail()))
    await text(send, "ok")


async def hello(_scope, _receive, send):
    await text(send, "hello")


async def missing(_scope, _receive, send):
    await text(send, "not found", 404)


PATHS = {"/": hello, "/slow": slow, "/body": body, "/stream": stream, "/do/crash": crash, "/do/reject": reject}


async def lifespan(receive, send):
    """What ASGI gives a program for its own end: one function after the last request."""
    await receive()
    await send({"type": "lifespan.startup.complete"})
    await receive()
    for hook in plan.get("cleanup", []):
        note(f"{hook['name']} begins")
        await asyncio.sleep(hook.get("ms", 0) / 1000)
        if hook.get("logBytes"):
            sys.stdout.write("x" * (hook["logBytes"] - 1) + "\n")
            sys.stdout.flush()
        if hook.get("never"):
            await asyncio.Event().wait()
        note(f"{hook['name']} ends")
    await send({"type": "lifespan.shutdown.complete"})


async def web_socket(receive, send):
    await receive()
    await send({"type": "websocket.accept"})
    while (await receive())["type"] != "websocket.disconnect":
        pass


async def app(scope, receive, send):
    if scope["type"] == "lifespan":
        await lifespan(receive, send)
    elif scope["type"] == "websocket":
        await web_socket(receive, send)
    else:
        await PATHS.get(scope["path"], missing)(scope, receive, send)


class Server(uvicorn.Server):
    async def startup(self, sockets=None):
        await super().startup(sockets=sockets)
        port = self.servers[0].sockets[0].getsockname()[1]
        note("listening", port=port, controls=[])


note("loaded")
grace = max(1, round(plan["graceMs"] / 1000))
config = uvicorn.Config(app, host="127.0.0.1", port=0, lifespan="on", log_level="info", timeout_graceful_shutdown=grace)
Server(config).run()
