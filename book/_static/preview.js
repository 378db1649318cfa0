// A card that shows where a link leads, on hover and on focus: a claim, a term, a formula, a figure, a
// theorem. Escape closes it; the pointer may move onto it. The words of a claim come from _ext/ledger.py.
(() => {
  const LINKS = "main a[href*='#']:not(.headerlink)";
  const card = document.createElement("div");
  card.id = "preview";
  card.setAttribute("role", "tooltip");
  card.hidden = true;
  const pages = new Map([[location.pathname, document]]);
  let shown = null;
  let waiting = 0;

  async function pageOf(url) {
    if (!pages.has(url.pathname)) {
      const text = await (await fetch(url.pathname)).text();
      pages.set(url.pathname, new DOMParser().parseFromString(text, "text/html"));
    }
    return pages.get(url.pathname);
  }

  // What belongs to an anchor; nothing for a section, which is too long for a card.
  function partsOf(page, id) {
    const anchor = page.getElementById(id);
    if (!anchor) return [];
    if (anchor.matches("dt.sig")) return [anchor, ...anchor.nextElementSibling.querySelectorAll(":scope > p")];
    if (anchor.matches("dt")) return [anchor.nextElementSibling];
    if (anchor.matches("div.math, div.proof, figure, div.exercise")) return [anchor];
    const around = anchor.closest("div.math, div.proof, figure");
    return around ? [around] : [];
  }

  function copyOf(part, base) {
    const copy = part.cloneNode(true);
    copy.removeAttribute("id");
    copy.querySelectorAll("[id]").forEach((node) => node.removeAttribute("id"));
    copy.querySelectorAll(".headerlink").forEach((node) => node.remove());
    copy.querySelectorAll("img").forEach((image) => {
      image.src = new URL(image.getAttribute("src"), base).href;
    });
    return copy;
  }

  async function contentOf(link) {
    if (link.dataset.preview) {
      const text = document.createElement("p");
      text.className = "claim-text";
      text.textContent = link.dataset.preview;
      return [text];
    }
    const url = new URL(link.href);
    if (url.origin !== location.origin || !url.hash) return [];
    const page = await pageOf(url);
    return partsOf(page, decodeURIComponent(url.hash.slice(1))).map((part) => copyOf(part, url));
  }

  function place(link) {
    const at = link.getBoundingClientRect();
    const { width, height } = card.getBoundingClientRect();
    const left = Math.max(8, Math.min(at.left, document.documentElement.clientWidth - width - 8));
    const above = at.bottom + height + 8 > innerHeight && at.top > height + 8;
    card.style.left = `${left}px`;
    card.style.top = `${above ? at.top - height - 6 : at.bottom + 6}px`;
  }

  async function show(link) {
    let content = [];
    try {
      content = await contentOf(link);
    } catch {
      return; // pages that are read from a folder may not read each other
    }
    if (!content.length || shown !== link) return;
    card.replaceChildren(...content);
    card.hidden = false;
    place(link);
    link.setAttribute("aria-describedby", card.id);
    if (/\\[([]/.test(card.textContent)) {
      await window.MathJax?.startup?.promise;
      await window.MathJax?.typesetPromise?.([card]);
    }
    if (shown === link) place(link);
  }

  function hide() {
    clearTimeout(waiting);
    shown?.removeAttribute("aria-describedby");
    shown = null;
    card.hidden = true;
  }

  function soon(action, milliseconds) {
    clearTimeout(waiting);
    waiting = setTimeout(action, milliseconds);
  }

  function enter(event) {
    if (card.contains(event.target)) return clearTimeout(waiting);
    const link = event.target.closest?.(LINKS);
    if (!link || link === shown) return link && clearTimeout(waiting);
    hide();
    shown = link;
    soon(() => show(link), event.type === "focusin" ? 0 : 250);
  }

  function leave(event) {
    if (shown && (card.contains(event.target) || event.target.closest?.(LINKS) === shown)) {
      soon(hide, 200);
    }
  }

  // By touch: the first shows what a mark says, the second follows it, one elsewhere closes the card.
  let first = null;
  function touch({ pointerType, target }) {
    first = null;
    if (pointerType !== "touch" || card.contains(target)) return;
    const mark = target.closest?.("main a.claim-mark");
    if (mark && mark === shown && !card.hidden) return;
    hide();
    [first, shown] = [mark, mark];
    if (mark) show(mark);
  }

  document.body.append(card); // the page has been read: this script is deferred
  document.addEventListener("pointerdown", touch);
  document.addEventListener("click", (event) => first?.contains(event.target) && event.preventDefault());
  document.addEventListener("mouseover", enter);
  document.addEventListener("focusin", enter);
  document.addEventListener("mouseout", leave);
  document.addEventListener("focusout", leave);
  document.addEventListener("keydown", (event) => event.key === "Escape" && hide());
  document.addEventListener("scroll", () => !card.hidden && shown && place(shown), true);
})();
