"""The built site, served on this machine, and a browser that reaches nothing else."""

import shutil
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest
from built import ROOT
from playwright.sync_api import sync_playwright

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
OFFLINE = ["--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", "--no-sandbox"]


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
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        pytest.fail(f"no browser: one of {', '.join(BROWSERS)} must be on the path")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=OFFLINE)
        yield browser
        browser.close()


@pytest.fixture
def page(browser):
    """An empty page; whatever goes wrong in it is listed in `page.problems`."""
    with browser.new_context(viewport={"width": 1280, "height": 900}) as context:
        page = context.new_page()
        page.problems = []
        page.on("requestfailed", lambda request: page.problems.append(f"failed: {request.url}"))
        page.on("pageerror", lambda error: page.problems.append(f"script error: {error}"))
        page.on("console", partial(_keep_console, page.problems))
        page.on("response", partial(_keep_response, page.problems))
        yield page


def _keep_console(problems: list[str], message) -> None:
    if message.type in ("error", "warning"):
        problems.append(f"console {message.type}: {message.text}")


def _keep_response(problems: list[str], response) -> None:
    if response.status >= 400:
        problems.append(f"status {response.status}: {response.url}")
