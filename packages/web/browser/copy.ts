import { element } from './element.ts';

/**
 * The buttons that show whether a copy worked. They are not disabled, because a disabled button loses the
 * focus.
 */
const showing = new WeakSet<HTMLButtonElement>();

/**
 * Copies a text, and shows on the button for two seconds whether the copy worked. An event `copied` on the
 * button tells the page that it has.
 */
export async function copyShown(
  button: HTMLButtonElement,
  text: () => string | Promise<string>,
  { done, failed }: { readonly done: string; readonly failed: string },
): Promise<void> {
  if (showing.has(button)) return;
  showing.add(button);
  const label = button.textContent;
  const isCopied = await copied(text).then(
    () => true,
    () => false,
  );
  button.textContent = isCopied ? done : failed;
  if (isCopied) button.dispatchEvent(new Event('copied', { bubbles: true }));
  setTimeout(() => {
    button.textContent = label;
    showing.delete(button);
  }, 2000);
}

/**
 * Safari allows a copy only in the event of the click, so that it gets the text as a promise. A string,
 * because a Blob would lose a byte order mark. Browsers of before 2025 take no string in a ClipboardItem.
 */
async function copied(text: () => string | Promise<string>): Promise<void> {
  const value = Promise.resolve(text());
  if (!isSecureContext) return (await import('./copy-by-command.ts')).copyByCommand(await value);
  try {
    await navigator.clipboard.write([new ClipboardItem({ 'text/plain': value })]);
  } catch {
    await navigator.clipboard.writeText(await value);
  }
}

/** The buttons that copy the text of a field, or of several: one a line. `data-copy` has their ids. */
export function startCopyButtons(): void {
  for (const button of document.querySelectorAll<HTMLButtonElement>('button[data-copy]')) {
    const { copy = '', done = '', failed = '' } = button.dataset;
    const inputs = copy.split(' ').map((id) => element(id, HTMLInputElement));
    for (const input of inputs) input.addEventListener('focus', () => input.select());
    button.hidden = false;
    button.addEventListener('click', () => {
      const text = inputs.map(({ value }) => value).join('\n');
      void copyShown(button, () => text, { done, failed });
    });
  }
  // A field shows as much as fits. Paper gets the whole of it.
  addEventListener('beforeprint', () => {
    for (const input of document.querySelectorAll<HTMLInputElement>('.copyable > input'))
      if (input.parentElement) input.parentElement.dataset['paper'] = input.value;
  });
}
