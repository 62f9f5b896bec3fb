import { showRelativeTimes } from './browser-facts.ts';
import { startCopyButtons } from './copy.ts';
import { element, optional } from './element.ts';
import { followPage } from './follow-page.ts';
import { isUnsaved, keepUnsaved } from './new-request.ts';

/** The page of one request. The private key is in the address behind `#`, and no server gets it. */
const page = element('request', HTMLElement);
const {
  request: id = '',
  broken = '',
  wrong = '',
  outdated = '',
  unloaded = '',
  insecure = '',
} = page.dataset;
const arrived = element('arrived', HTMLElement);
/** Gives the links that are new the keys of their deposits. Without the own link there are none. */
let showKeys = async (): Promise<void> => {};
const privatePart = location.hash.slice(1);

addEventListener('hashchange', () => location.reload());
showRelativeTimes('.line time');
void start();
if ('open' in arrived.dataset) followPage(update);

async function start(): Promise<void> {
  element('needs-script', HTMLElement).remove();
  if (!isSecureContext) refuse(insecure); // browsers then have no cipher
  else if (privatePart === '') showLost();
  else await open().catch(() => refuse(unloaded));
}

/** Finds the key of each deposit, and shows the links. */
async function open(): Promise<void> {
  const keys = await import('./sealed/request-keys.ts');
  const publicPart = await keys.triedPublicPart(privatePart, id);
  if (publicPart === null) {
    refuse(broken);
    showLost();
    return;
  }
  const { unwrapKey, fragmentOfKey, WrongRequestKeyError } = keys;
  showKeys = async () => {
    for (const link of page.querySelectorAll<HTMLAnchorElement>('a[data-wrapped]')) {
      const { wrapped = '' } = link.dataset;
      delete link.dataset['wrapped'];
      try {
        link.href += `#${fragmentOfKey(await unwrapKey(wrapped, id, privatePart))}`;
        link.hidden = false;
      } catch (error) {
        const isWrong = error instanceof WrongRequestKeyError;
        const shown = link.closest('li')?.querySelector('.field-error') ?? null;
        if (shown !== null) shown.textContent = isWrong ? wrong : outdated;
      }
    }
  };
  await showKeys();
  showLinks(publicPart);
}

/** Shows what arrives; what is there keeps the focus. A request that has ended has another page. @returns whether it has not */
async function update(next: Document): Promise<boolean> {
  const newer = next.getElementById('arrived');
  if (newer === null) return true;
  if (!('open' in newer.dataset)) {
    if (!isUnsaved(id)) location.reload();
    return false;
  }
  const rows = arrived.querySelectorAll('.rows > li').length;
  const added = [...newer.querySelectorAll('.rows > li')].slice(rows);
  if (added.length === 0) return true;
  if (rows === 0) arrived.replaceChildren(...newer.childNodes);
  else arrived.querySelector('.rows')?.append(...added);
  const facts = next.querySelector('[data-part]');
  if (facts !== null) page.querySelector('[data-part]')?.replaceWith(facts);
  showRelativeTimes('#request > [data-part] time');
  for (const row of added) showRelativeTimes(`#${row.id} time`);
  await showKeys();
  return true;
}

function showLinks(publicPart: string): void {
  const own = element('own', HTMLInputElement);
  own.value = location.href;
  const file = element('keep', HTMLAnchorElement);
  file.download = `request-${id}.txt`;
  file.href = URL.createObjectURL(new Blob([`${location.href}\n`], { type: 'text/plain' }));
  const ask = optional('ask', HTMLInputElement);
  if (ask !== null) ask.value = `${ask.dataset['url'] ?? ''}#${publicPart}`;
  element('links', HTMLElement).hidden = false;
  const cancel = optional('cancel', HTMLFormElement);
  if (cancel !== null) cancel.action += location.hash; // a redirect keeps it, and no request has it
  startCopyButtons();
  startSaving();
}

/** Who has just made a request sees the link for others when the own one is saved. */
function startSaving(): void {
  const pass = optional('pass', HTMLElement);
  const later = optional('pass-later', HTMLElement);
  if (pass === null || later === null || !isUnsaved(id)) return;
  const saved = element('saved', HTMLButtonElement);
  const ask = (event: Event): void => event.preventDefault(); // the browser asks
  for (const each of [saved, later]) each.hidden = false;
  pass.hidden = true;
  addEventListener('beforeunload', ask);
  saved.addEventListener('click', () => {
    keepUnsaved(null);
    removeEventListener('beforeunload', ask);
    for (const each of [saved, later]) each.hidden = true;
    pass.hidden = false;
    element('ask', HTMLInputElement).focus();
  });
}

/** Without a key: who asks may still have the link somewhere. */
function showLost(): void {
  const form = element('lost', HTMLFormElement);
  const field = element('own-again', HTMLInputElement);
  const failure = element('own-again-error', HTMLElement);
  form.hidden = false;
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const given = URL.parse(field.value.trim(), location.href);
    const isOwn =
      given?.origin === location.origin && given.pathname === location.pathname && given.hash !== '';
    if (isOwn) location.hash = given.hash; // and the page is loaded again
    else failure.textContent = broken;
  });
}

function refuse(reason: string): void {
  const shown = Object.assign(document.createElement('p'), { className: 'notice bad', textContent: reason });
  element('refusal', HTMLElement).replaceChildren(shown);
}
