"""How soon a page can be read on a slow telephone: ``make page-speed [PAGE=book/xor.html]``.

Chromium with the processor four times slower, behind "slow 4G" as Lighthouse applies it in Chrome's
developer tools: 562.5 ms until a request is answered, 1.47 Mbit/s down. The built site is served
with gzip over HTTP/1.1, and nothing is cached. Printed are the medians of five visits: until the
first text is painted, until its largest part is, and until all is loaded and all formulas are set.
"""

import gzip
import statistics
import sys
import threading
from functools import cache, partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from mdsgdln_book.pages.pdf import browser_path

LATENCY, DOWN, UP = 562.5, 1474.56, 675  # milliseconds, kbit/s
SLOWER, VISITS = 4, 5
PACKED = {".html", ".css", ".js", ".svg", ".json"}
OFFLINE = ["--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", "--no-sandbox"]
LISTEN = """() => {
  sessionStorage.begun ??= performance.timeOrigin;  // of the page that led here, if one did
  new PerformanceObserver((list) => {
    window.largest = list.getEntries().at(-1).startTime;
  }).observe({ type: "largest-contentful-paint", buffered: true });
}"""
TIMES = """async () => {
  await window.MathJax?.startup?.promise;
  await document.fonts.ready;
  const [visit] = performance.getEntriesByType("navigation");
  const loaded = [visit, ...performance.getEntriesByType("resource")];
  const before = performance.timeOrigin - sessionStorage.begun;
  return {
    text: before + performance.getEntriesByName("first-contentful-paint")[0].startTime,
    largest: before + window.largest,
    all: before + Math.max(visit.loadEventEnd, window.formulas ?? 0,
      ...loaded.map((entry) => entry.responseEnd)),
    requests: loaded.length,
    kilobytes: loaded.reduce((sum, entry) => sum + entry.transferSize, 0) / 1000,
  };
}"""
# Notes when MathJax has set all formulas: it says so by a promise that it makes when it starts.
WATCH = """() => {
  const timer = setInterval(() => {
    const promise = window.MathJax?.startup?.promise;
    if (!promise) return;
    clearInterval(timer);
    promise.then(() => { window.formulas = performance.now(); });
  }, 10);
}"""


class Packed(SimpleHTTPRequestHandler):
    """Serves files as a web server does: connections are kept, text is compressed."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Answer with a file, packed where it is text."""
        path = Path(self.translate_path(self.path))
        if not path.is_file():
            return self.send_error(404)
        packed = path.suffix in PACKED
        content = body(path, packed)
        self.send_response(200)
        self.send_header("Content-Type", self.guess_type(str(path)))
        self.send_header("Content-Length", str(len(content)))
        if packed:
            self.send_header("Content-Encoding", "gzip")
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *args) -> None:
        """Say nothing."""


@cache
def body(path: Path, packed: bool) -> bytes:
    """Return a file as it is sent."""
    return gzip.compress(path.read_bytes(), 6) if packed else path.read_bytes()


def visit(browser: Browser, address: str) -> dict[str, float]:
    """Open a page for the first time, slowly, and return what was measured."""
    with browser.new_context(viewport={"width": 412, "height": 823}) as context:
        page = context.new_page()
        page.set_default_timeout(120_000)
        for script in (LISTEN, WATCH):
            page.add_init_script(f"({script})()")
        session = context.new_cdp_session(page)
        session.send("Network.enable")
        session.send(
            "Network.emulateNetworkConditions",
            {
                "offline": False,
                "latency": LATENCY,
                "downloadThroughput": DOWN * 125,
                "uploadThroughput": UP * 125,
            },
        )
        session.send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})
        page.goto(address, wait_until="load")
        page.wait_for_selector("article")  # index.html leads on
        page.wait_for_load_state("networkidle")
        return page.evaluate(TIMES)


def main(site: Path, pages: list[str]) -> None:
    """Print the medians for some pages of a built site."""
    handler = partial(Packed, directory=str(site))
    with (
        ThreadingHTTPServer(("127.0.0.1", 0), handler) as server,
        sync_playwright() as playwright,
    ):
        threading.Thread(target=server.serve_forever, daemon=True).start()
        browser = playwright.chromium.launch(executable_path=browser_path(), args=OFFLINE)
        for name in pages:
            address = f"http://127.0.0.1:{server.server_port}/{name}"
            found = [visit(browser, address) for _ in range(VISITS)]
            median = {key: statistics.median(run[key] for run in found) for key in found[0]}
            print(
                f"{name}: first text {median['text'] / 1e3:.1f} s, largest part "
                f"{median['largest'] / 1e3:.1f} s, all {median['all'] / 1e3:.1f} s; "
                f"{median['requests']:.0f} requests, {median['kilobytes']:.0f} kB",
                flush=True,
            )
        browser.close()
        server.shutdown()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:] or ["book/start.html"])
