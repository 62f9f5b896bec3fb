/**
 * Whoever signs in for a page leaves it, perhaps for another site, which must not get the part of the address behind `#`:
 * it may be a key. The tab keeps the address until the page is there again, where `site.ts` finds it.
 */
export function keepPart(): void {
  for (const way of document.querySelectorAll('[data-back]'))
    way.addEventListener(way instanceof HTMLFormElement ? 'submit' : 'click', () => {
      const { pathname, search, hash } = location;
      try {
        if (hash !== '') sessionStorage.setItem('pasteflow-part', pathname + search + hash);
      } catch {} // the browser stores nothing
    });
}
