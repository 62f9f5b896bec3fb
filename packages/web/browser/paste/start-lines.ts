import { optional } from '../element.ts';
import type { LineSelection } from './lines.ts';

/** The width of the numbers in page.css. */
const NUMBERS_PX = 56;

/** The module that selects lines is loaded when somebody selects some, or the address does. */
export function startLines(content: HTMLElement, chunks: readonly HTMLElement[]): void {
  let lines: Promise<LineSelection> | undefined;
  const use = async (action: (selection: LineSelection) => void): Promise<void> => {
    lines ??= import('./lines.ts').then((module) => new module.LineSelection(content, chunks));
    action(await lines);
  };
  const show = (): void => void use((selection) => selection.show({ scroll: true }));
  if (location.hash.startsWith('#L')) show();
  addEventListener('hashchange', show);
  content.addEventListener('click', (event) => {
    const isNumber = event.clientX - content.getBoundingClientRect().left + content.scrollLeft < NUMBERS_PX;
    if (isNumber) void use((selection) => selection.click(event));
  });
  startNumbers(content, () => void lines?.then((selection) => selection.show({ scroll: false })));
  const form = optional('line-form', HTMLFormElement);
  if (form === null) return; // the page of a paste that was deleted by its read has no addresses of lines
  form.hidden = false;
  form.addEventListener('input', () => form.querySelector('input')?.setCustomValidity(''));
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void use((selection) => selection.submit(form));
  });
}

/** The module that numbers lines that wrap is loaded for a text that has too many lines for rows. */
export function startNumbers(content: HTMLElement, onNumbered = (): void => {}): void {
  const chunks = [...content.querySelectorAll<HTMLElement>('.chunk:not(.long):has(> .numbers)')];
  if (chunks.length > 0)
    void import('./number-rows.ts').then(({ keepNumbers }) => keepNumbers(chunks, onNumbered));
}
