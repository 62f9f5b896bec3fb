/**
 * Shows the newest figures every ten seconds while the page is in view. The janitor reads them once for all
 * open pages, and a page in the background asks for nothing.
 */
const INTERVAL_MS = 10_000;

async function refresh(): Promise<void> {
  const shown = document.querySelector('#live');
  if (document.hidden || shown === null || shown.contains(document.activeElement)) return;
  const answer = await fetch(location.href, { headers: { Accept: 'text/html' } });
  if (!answer.ok) return;
  const next = new DOMParser().parseFromString(await answer.text(), 'text/html').querySelector('#live');
  if (next === null) return;
  const scrolled = [...shown.querySelectorAll('.scroll')].map((region) => region.scrollLeft);
  shown.replaceChildren(...next.childNodes);
  for (const [index, region] of [...shown.querySelectorAll('.scroll')].entries())
    region.scrollLeft = scrolled[index] ?? 0;
}

function refreshOrKeep(): void {
  refresh().catch(() => {}); // the page keeps its figures and the time at which they were read
}

setInterval(refreshOrKeep, INTERVAL_MS);
document.addEventListener('visibilitychange', refreshOrKeep);
