"""One server of the feature probes: Envoy, in front of a small server of this program. It speaks the
protocol of ../fixture.mjs: its plan is the last argument, and what happens is told on file descriptor
3. A signal ends Envoy as its documentation says of a graceful end: this program fails its health,
lets it drain its listeners, waits for its requests, and lets it quit."""

import base64
import ctypes
import hashlib
import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

ENVOY = sys.argv[1]
plan = json.loads(sys.argv[-1])
folder = tempfile.TemporaryDirectory(prefix="features-envoy-")
# How long it asks clients to leave, which are whole seconds: the delay of the plan, or the least.
DRAIN_S = max(1, round(plan.get("delayMs", 0) / 1000))
BASE_ID = os.getpid() % 30_000
PR_SET_PDEATHSIG = 1


def note(event, **more):
    line = {"at": int(time.time() * 1000), "event": event, **more}
    os.write(3, (json.dumps(line) + "\n").encode())


class Upstream(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def text(self, body, status=200):
        self.send_response(status)
        self.send_header("content-type", "text/plain")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())

    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        self.text("read")

    def do_GET(self):
        url = urlsplit(self.path)
        if url.path == "/slow":
            note("slow begins")
            time.sleep(int(parse_qs(url.query)["ms"][0]) / 1000)
            note("slow ends")
            self.text("done")
        elif url.path == "/stream":
            self.stream()
        elif url.path == "/ws":
            self.web_socket()
        elif url.path.startswith("/do/"):
            does = CONTROLS.get(url.path.removeprefix("/do/"))
            self.text(str(does() or "ok") if does else "no such control", 200 if does else 404)
        else:
            self.text("hello" if url.path == "/" else "not found", 200 if url.path == "/" else 404)

    def stream(self):
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        said = b"data: begin\n\n"
        try:
            while True:
                self.wfile.write(b"%x\r\n%s\r\n" % (len(said), said))
                said = b"data: more\n\n"
                time.sleep(0.1)
        except OSError:
            self.close_connection = True

    def web_socket(self):
        key = self.headers["sec-websocket-key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
        self.send_response(101)
        self.send_header("upgrade", "websocket")
        self.send_header("connection", "upgrade")
        accept = base64.b64encode(hashlib.sha1(key.encode()).digest())
        self.send_header("sec-websocket-accept", accept.decode())
        self.end_headers()
        self.wfile.write(b"\x81\x05hello")
        self.close_connection = True
        while self.connection.recv(4096):
            pass


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 512

    def handle_error(self, *_):
        """A connection that Envoy breaks off is no news."""


def configuration(upstream_port):
    manager = {
        "@type": "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
        "stat_prefix": "in",
        "upgrade_configs": [{"upgrade_type": "websocket"}],
        "route_config": {
            "virtual_hosts": [
                {
                    "name": "all",
                    "domains": ["*"],
                    "routes": [{"match": {"prefix": "/"}, "route": {"cluster": "upstream", "timeout": "0s"}}],
                }
            ]
        },
        "http_filters": [
            {
                "name": "envoy.filters.http.router",
                "typed_config": {"@type": "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router"},
            }
        ],
    }
    chain = {"filters": [{"name": "envoy.filters.network.http_connection_manager", "typed_config": manager}]}
    if plan.get("http2"):
        pair = {"certificate_chain": {"filename": os.environ["CERT"]}, "private_key": {"filename": os.environ["KEY"]}}
        chain["transport_socket"] = {
            "name": "envoy.transport_sockets.tls",
            "typed_config": {
                "@type": "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext",
                "common_tls_context": {"tls_certificates": [pair], "alpn_protocols": ["h2", "http/1.1"]},
            },
        }
    listener = {
        "name": "in",
        "address": address(plan.get("port", 0)),
        "filter_chains": [chain],
    }
    endpoint = {"endpoint": {"address": address(upstream_port)}}
    cluster = {
        "name": "upstream",
        "connect_timeout": "1s",
        "load_assignment": {"cluster_name": "upstream", "endpoints": [{"lb_endpoints": [endpoint]}]},
    }
    return {"admin": {"address": address(0)}, "static_resources": {"listeners": [listener], "clusters": [cluster]}}


def address(port):
    return {"socket_address": {"address": "127.0.0.1", "port_value": port}}


class Envoy:
    """A process of it, which does not outlive this one."""

    def __init__(self, upstream_port, epoch):
        self.admin_file = os.path.join(folder.name, f"admin-{epoch}")
        hot = ["--base-id", str(BASE_ID), "--restart-epoch", str(epoch), "--parent-shutdown-time-s", "4"]
        self.process = subprocess.Popen(
            [
                *(ENVOY, "--config-yaml", json.dumps(configuration(upstream_port))),
                *("--admin-address-path", self.admin_file, "--concurrency", "2", "--log-level", "warning"),
                *("--drain-time-s", str(DRAIN_S)),
                *(hot if plan.get("hotRestart") else ["--disable-hot-restart"]),
            ],
            preexec_fn=lambda: ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL),
        )

    def ask(self, path, method="GET"):
        with urllib.request.urlopen(urllib.request.Request(self.admin + path, method=method), timeout=5) as answer:
            return answer.read().decode()

    def until_live(self):
        while self.process.poll() is None:
            try:
                with open(self.admin_file, encoding="utf8") as file:
                    self.admin = f"http://{file.read().strip()}"
                self.ask("/ready")
                return
            except (OSError, urllib.error.URLError):
                time.sleep(0.02)
        sys.exit(self.process.returncode)

    def port(self):
        listeners = json.loads(self.ask("/listeners?format=json"))["listener_statuses"]
        return listeners[0]["local_address"]["socket_address"]["port_value"]

    def active_requests(self):
        stats = json.loads(self.ask("/stats?format=json&filter=http.in.downstream_rq_active"))["stats"]
        return stats[0]["value"]

    def end(self):
        """As it is told to: bounded, because what is left then is broken off by its quitting."""
        # Where its health has failed it tells each client at its next request, otherwise bit by bit.
        if not plan.get("staysHealthy"):
            self.ask("/healthcheck/fail", "POST")
        if plan.get("late"):
            self.ask("/drain_listeners", "POST")
        else:
            self.ask("/drain_listeners?graceful", "POST")
            time.sleep(DRAIN_S)
        bound = time.monotonic() + plan["graceMs"] / 1000
        while self.active_requests() > 0 and time.monotonic() < bound:
            time.sleep(0.02)
        self.ask("/quitquitquit", "POST")


def misuse():
    said = subprocess.run([ENVOY, "--drain-time-s", "soon"], capture_output=True, text=True, check=False)
    words = " ".join(f"{said.stdout} {said.stderr}".split()).split(" Brief USAGE")[0]
    note("misused", error=words if said.returncode else None, what="a drain time of 'soon'")


def main():
    upstream = Server(("127.0.0.1", 0), Upstream)
    threading.Thread(target=upstream.serve_forever, daemon=True).start()
    # Only this thread starts processes: the kernel ends these with the thread that has started them.
    orders = queue.SimpleQueue()
    signals = [signal.SIGTERM, signal.SIGINT]
    for number in signals:
        signal.signal(number, lambda number, _: orders.put(number))
    envoy = Envoy(upstream.server_port, 0)
    envoy.until_live()
    CONTROLS.update(
        notReady=lambda: envoy.ask("/healthcheck/fail", "POST"),
        ready=lambda: envoy.ask("/healthcheck/ok", "POST"),
        counts=lambda: f"requests under way: {envoy.active_requests()}",
        hotRestart=lambda: orders.put("hot restart"),
    )
    health = {"live": "/server_info", "ready": "/ready", "port": int(envoy.admin.rsplit(":", 1)[1])}
    note("listening", port=envoy.port(), health=health, controls=list(CONTROLS))
    order = orders.get()
    if order == "hot restart":
        successor = Envoy(upstream.server_port, 1)
        note("first ended", code=envoy.process.wait())
        envoy = successor
        envoy.until_live()
        order = orders.get()
    if plan.get("forward"):
        envoy.process.send_signal(order)
    else:
        envoy.end()
    code = envoy.process.wait()
    sys.exit(code if code >= 0 else 128 - code)


CONTROLS = {}
note("loaded")
if plan.get("misuse"):
    misuse()
else:
    main()
