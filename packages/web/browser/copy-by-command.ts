/**
 * Copies on pages that were loaded by http, to which browsers give no clipboard. Safari copies nothing without
 * a selection; the listener gives the exact text, because a field changes the ends of lines.
 * @throws Error when the browser refuses
 */
export function copyByCommand(text: string): void {
  const focused = document.activeElement as HTMLElement | null;
  const field = Object.assign(document.createElement('textarea'), {
    value: text,
    className: 'visually-hidden',
  });
  document.body.append(field);
  field.select();
  const give = (event: ClipboardEvent): void => {
    event.preventDefault();
    event.clipboardData?.setData('text/plain', text);
  };
  addEventListener('copy', give);
  const isCopied = document.execCommand('copy'); // oxlint-disable-line typescript/no-deprecated -- there is nothing else
  removeEventListener('copy', give);
  field.remove();
  focused?.focus();
  if (!isCopied) throw new Error('The browser does not copy.');
}
