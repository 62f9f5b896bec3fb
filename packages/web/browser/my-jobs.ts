import { showRelativeTimes } from './browser-facts.ts';
import { optional } from './element.ts';
import { startFilter } from './live-filter.ts';

/**
 * One request for all jobs of the page, however many run. A stream of events for each would take one of the
 * places for waiting clients that all users share.
 */
const INTERVAL_MS = 3000;

let isFollowing = false;

/**
 * Shows the progress of the open jobs in the list, until all have ended. The page asks for nothing while it
 * is hidden.
 */
function followList(): void {
  if (isFollowing || openRows().length === 0) return;
  isFollowing = true;
  const timer = setInterval(refresh, INTERVAL_MS);
  let isUnderWay = false;
  document.addEventListener('visibilitychange', refresh);

  function refresh(): void {
    if (document.hidden || isUnderWay) return;
    isUnderWay = true;
    readList()
      .then(update)
      .catch(() => {}) // the page keeps what it shows, and asks again
      .finally(() => {
        isUnderWay = false;
        if (openRows().length === 0) stop();
      });
  }

  function stop(): void {
    isFollowing = false;
    clearInterval(timer);
    document.removeEventListener('visibilitychange', refresh);
  }
}

const openRows = (): readonly HTMLElement[] => [
  ...document.querySelectorAll<HTMLElement>('.rows > [data-open]'),
];
const partsOf = (row: HTMLElement): readonly HTMLElement[] => [
  ...row.querySelectorAll<HTMLElement>('[data-part]'),
];

async function readList(): Promise<Document | null> {
  const answer = await fetch(location.href, { headers: { Accept: 'text/html' } });
  return answer.ok ? new DOMParser().parseFromString(await answer.text(), 'text/html') : null;
}

/** A job that is no longer in the list, because the filter leaves out its new state, keeps its row. */
function update(next: Document | null): void {
  if (next === null) return;
  for (const row of openRows()) {
    const newer = next.getElementById(row.id);
    if (newer === null) continue;
    const parts = partsOf(newer);
    partsOf(row).forEach((part, index) => part.replaceWith(parts[index]?.cloneNode(true) ?? part));
    showRelativeTimes(`#${row.id} time`);
    if (newer.hasAttribute('data-open')) continue;
    row.removeAttribute('data-open');
    const ended = optional('ended-jobs', HTMLElement);
    if (ended !== null)
      ended.textContent = [row.querySelector('a'), row.querySelector('.badge')]
        .map((each) => each?.textContent)
        .join(': ');
  }
}

// A form is sent once: a second click would start a second job.
showRelativeTimes();
followList();
startFilter(() => {
  showRelativeTimes('#found .line time');
  followList();
});
const forms = [...document.querySelectorAll<HTMLFormElement>('form.start')];
const setDisabled = (form: HTMLFormElement, disabled: boolean): void => {
  for (const button of form.querySelectorAll('button')) button.disabled = disabled;
};
for (const form of forms) form.addEventListener('submit', () => setDisabled(form, true));
addEventListener('pageshow', () => forms.forEach((form) => setDisabled(form, false))); // also when one goes back
