/**
 * Shows the newest figures while the page is in view: the overview every ten seconds, an action at the interval that
 * its page names, until the action has ended. A page in the background asks for nothing.
 */
const INTERVAL_MS = 10_000;

const live = document.querySelector<HTMLElement>('#live');
const { refreshMs } = live?.dataset ?? {};

async function refresh(): Promise<void> {
  if (document.hidden || live === null || live.contains(document.activeElement)) return;
  const answer = await fetch(location.href, { headers: { Accept: 'text/html' } });
  if (answer.status === 401) location.reload(); // the page to sign in
  if (!answer.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
  const next = page.querySelector<HTMLElement>('#live');
  if (next === null) return;
  const scrolled = [...live.querySelectorAll('.scroll')].map((region) => region.scrollLeft);
  for (const { id } of live.querySelectorAll<HTMLDetailsElement>('details[open]'))
    next.querySelector(`details#${id}`)?.setAttribute('open', '');
  live.replaceChildren(...next.childNodes);
  for (const [index, region] of [...live.querySelectorAll('.scroll')].entries())
    region.scrollLeft = scrolled[index] ?? 0;
  if (next.dataset['refreshMs'] === refreshMs) return;
  clearInterval(timer);
  document.removeEventListener('visibilitychange', refreshOrKeep);
}

function refreshOrKeep(): void {
  refresh().catch(() => {}); // the page keeps what it shows, and asks again
}

const timer = setInterval(refreshOrKeep, Number(refreshMs ?? INTERVAL_MS));
document.addEventListener('visibilitychange', refreshOrKeep);
