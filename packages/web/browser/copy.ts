/**
 * The buttons that show whether a copy worked. They are not disabled, because a disabled button loses the
 * focus.
 */
const showing = new WeakSet<HTMLButtonElement>();

/** Copies a text, and shows on the button for two seconds whether the copy worked. */
export async function copyShown(
  button: HTMLButtonElement,
  text: () => string | Promise<string>,
  { done, failed }: { readonly done: string; readonly failed: string },
): Promise<void> {
  if (showing.has(button)) return;
  showing.add(button);
  const label = button.textContent;
  button.textContent = await copied(text).then(
    () => done,
    () => failed,
  );
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
  try {
    await navigator.clipboard.write([new ClipboardItem({ 'text/plain': value })]);
  } catch {
    await navigator.clipboard.writeText(await value);
  }
}

/** The buttons that copy the text of a field. @param onCopied gets the field whose text was copied */
export function startCopyButtons(onCopied: (input: HTMLInputElement) => void = () => {}): void {
  for (const button of document.querySelectorAll<HTMLButtonElement>('button[data-copy]')) {
    const input = document.getElementById(button.dataset['copy'] ?? '');
    if (!(input instanceof HTMLInputElement)) continue;
    input.addEventListener('focus', () => input.select());
    button.hidden = false;
    button.addEventListener('click', () => {
      const { done = '', failed = '' } = button.dataset;
      void copyShown(button, () => input.value, { done, failed }).then(() => {
        if (button.textContent === done) onCopied(input);
      });
    });
  }
}
