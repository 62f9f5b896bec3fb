/**
 * One request for all that changes on a page. A stream of events for each would take one of the places for waiting
 * clients that all users share.
 */
const INTERVAL_MS = 3000;

/**
 * Asks for the page again and again, without the part of its address behind `#`, and for nothing while it is hidden.
 * @param update shows what is new. @returns whether more can come
 */
export function followPage(update: (next: Document) => boolean | Promise<boolean>): void {
  const timer = setInterval(refresh, INTERVAL_MS);
  let isUnderWay = false;
  document.addEventListener('visibilitychange', refresh);

  function refresh(): void {
    if (document.hidden || isUnderWay) return;
    isUnderWay = true;
    show()
      .catch(() => {}) // the page keeps what it shows, and asks again
      .finally(() => (isUnderWay = false));
  }

  async function show(): Promise<void> {
    const next = await readPage();
    if (next === null || (await update(next))) return;
    clearInterval(timer);
    document.removeEventListener('visibilitychange', refresh);
  }
}

async function readPage(): Promise<Document | null> {
  const answer = await fetch(location.href, { headers: { Accept: 'text/html' } });
  return answer.ok ? new DOMParser().parseFromString(await answer.text(), 'text/html') : null;
}
