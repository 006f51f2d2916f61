"""sorites play [--port N] [--no-browser]"""

import functools
import sys
import threading
import webbrowser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from ..errors import SpecError, require
from .common import emit

FOLDER = Path(__file__).parents[1] / "playground"  # built by `make playground`, carried by the wheel
LOOPBACK = "127.0.0.1"


class Quiet(SimpleHTTPRequestHandler):
    """Says nothing about requests; a browser asks again each time, so a new version is never shadowed by an old one."""

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def send_head(self) -> Any:
        try:
            return super().send_head()
        except ValueError:  # a NUL in the address
            self.send_error(404)
            return None

    def end_headers(self) -> None:
        self.send_header("Cache-Control", "no-cache")
        super().end_headers()


def serve(port: int) -> ThreadingHTTPServer:
    """A server of the playground on loopback alone; port 0 takes a free one."""
    require(0 <= port < 2**16, f"a port is a number from 0 to {2**16 - 1}: port={port}; use 0 for a free one")
    require((FOLDER / "index.html").is_file(), f"the playground is built: {FOLDER} has none; run 'make playground'")
    try:
        return ThreadingHTTPServer((LOOPBACK, port), functools.partial(Quiet, directory=str(FOLDER)))
    except OSError as error:
        raise SpecError(f"the playground needs a free port: port={port} ({error.strerror}); use --port 0") from None


def execute(options: Any) -> int:
    with serve(options.port) as server:
        url = f"http://{LOOPBACK}:{server.server_address[1]}/"
        if not emit(options, {"url": url, "folder": str(FOLDER)}) and not options.quiet:
            print(f"The playground is at {url} until Ctrl-C; it is also a file to open: {FOLDER / 'index.html'}")
        sys.stdout.flush()
        if options.browser:
            threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()
        try:
            server.serve_forever()
        except KeyboardInterrupt as stop:
            print("sorites: the playground is closed", file=sys.stderr)
            return getattr(stop, "status", 130)
    return 0
