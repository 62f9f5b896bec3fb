import { keep, kept } from './preferences.ts';

/** A dialog with the keys of the page, in which the reader switches them off. */
export function showKeys({ dataset }: HTMLButtonElement, withKeys: readonly HTMLElement[]): void {
  const { title = '', option = '', close = '' } = dataset;
  const rows = withKeys.flatMap((each) => [
    made('dt', {}, made('kbd', { textContent: each.ariaKeyShortcuts ?? '' })),
    made('dd', { textContent: (each as HTMLInputElement).labels?.[0]?.textContent ?? each.textContent }),
  ]);
  const box = made('input', { type: 'checkbox', checked: kept('keys') !== 'off' });
  box.addEventListener('change', () => keep('keys', box.checked ? 'on' : 'off'));
  const heading = made('h2', { textContent: title, id: 'keys-title' });
  const dialog = made(
    'dialog',
    {},
    heading,
    made('dl', {}, ...rows),
    made('label', { className: 'check' }, box, option),
    made('form', { method: 'dialog' }, made('button', { textContent: close })),
  );
  dialog.setAttribute('aria-labelledby', heading.id);
  dialog.addEventListener('close', () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

function made<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  properties: Partial<HTMLElementTagNameMap[Name]>,
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[Name] {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
}
