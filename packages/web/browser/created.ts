import { showRelativeTimes } from './browser-facts.ts';
import { startCopyButtons } from './copy.ts';
import { forgetTokens, keepToken } from './delete-tokens.ts';
import { element, optional } from './element.ts';
import { canShare } from './link.ts';

const token = optional('delete-token', HTMLInputElement);
const link = optional('url', HTMLInputElement);
showRelativeTimes('.line time');
if (token !== null && link !== null && keepToken(link.value, token.value)) showKept();
startQr();

/** The token is kept, so that nobody has to copy it. */
function showKept(): void {
  const deletion = element('deletion', HTMLDetailsElement);
  const kept = element('kept', HTMLElement);
  const forget = element('forget', HTMLButtonElement);
  deletion.open = false;
  kept.hidden = false;
  forget.addEventListener('click', () => {
    forgetTokens();
    history.replaceState(null, ''); // a reload would keep the token again
    deletion.open = true;
    const status = kept.querySelector('[role=status]');
    if (status !== null) status.textContent = forget.dataset['done'] ?? '';
    forget.remove();
    token?.focus();
  });
}

/** Of the link with its key, which no server sees. The page of several pastes has none. */
function startQr(): void {
  const details = optional('qr', HTMLDetailsElement);
  if (details === null) return;
  const show = async (): Promise<void> => {
    const { qrCode } = await import('./paste/qr.ts');
    const { value } = element('url', HTMLInputElement);
    details.append(
      qrCode(
        value,
        (details.dataset['label'] ?? '').replace('{url}', () => value),
      ),
    );
  };
  details.hidden = false;
  details.addEventListener('toggle', () => void show(), { once: true });
}

/** The link with the key of an encrypted paste is nowhere else. */
let isKeyOnlyHere = link?.value.includes('#') === true;
const onKeyTaken = (): void => void (isKeyOnlyHere = false);
addEventListener('beforeunload', (event) => {
  if (isKeyOnlyHere) event.preventDefault(); // the browser asks
});
link?.addEventListener('copy', onKeyTaken);
link?.parentElement?.addEventListener('copied', onKeyTaken);
const share = optional('share', HTMLButtonElement);
if (share !== null && link !== null && canShare()) {
  share.hidden = false;
  const taken = (): Promise<void> => navigator.share({ url: link.value });
  share.addEventListener('click', () => void taken().then(onKeyTaken, () => {})); // or the sheet was closed
}
document.getElementById('open')?.addEventListener('click', onKeyTaken);

startCopyButtons();
