"""The built site, served on this machine, and a browser that reaches nothing else."""

import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pdf
import pytest
from built import ROOT
from playwright.sync_api import sync_playwright

SAID = ("error", "warning")  # on the console, what is a problem


class Handler(SimpleHTTPRequestHandler):
    """Serves files without a word on the terminal."""

    def log_message(self, *args) -> None:
        """Say nothing."""


@pytest.fixture(scope="session")
def address():
    """The address of the site's folder, for instance http://127.0.0.1:40123."""
    handler = partial(Handler, directory=str(ROOT))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(scope="session")
def browser():
    """The system's browser, without a window and without a network."""
    with sync_playwright() as playwright:
        path = pdf.browser_path()
        browser = playwright.chromium.launch(executable_path=path, args=pdf.OFFLINE)
        yield browser
        browser.close()


@pytest.fixture
def page(browser):
    """An empty page; whatever goes wrong in it is listed in `page.problems`."""
    with browser.new_context(viewport={"width": 1280, "height": 900}) as context:
        page = context.new_page()
        page.problems = []
        note = page.problems.append
        page.on("requestfailed", lambda request: note(f"failed: {request.url}"))
        page.on("pageerror", lambda error: note(f"script error: {error}"))
        page.on("console", lambda m: m.type in SAID and note(f"console {m.type}: {m.text}"))
        page.on("response", lambda r: r.status >= 400 and note(f"status {r.status}: {r.url}"))
        yield page
