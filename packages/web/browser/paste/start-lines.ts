import { optional } from '../element.ts';
import type { LineSelection, ShownText } from './lines.ts';

/** The width of the numbers in page.css. */
const NUMBERS_PX = 56;

/** A text, with the selection of its lines once there was one. */
interface TextWithLines extends ShownText {
  lines?: Promise<LineSelection>;
}

/** The module that selects lines is loaded when somebody selects some, or the address does. */
export function startLines(texts: readonly ShownText[]): void {
  const all: readonly TextWithLines[] = texts.map((text) => ({ ...text }));
  const select = async (text: TextWithLines, action: (selection: LineSelection) => void): Promise<void> => {
    for (const other of all) if (other !== text) (await other.lines)?.clear();
    text.lines ??= import('./lines.ts').then(({ LineSelection: Lines }) => new Lines(text));
    action(await text.lines);
    placeLink(text);
  };
  const show = (): void => {
    const selected = all.find(({ prefix }) => location.hash.startsWith(`#${prefix}L`));
    if (selected === undefined) for (const { lines } of all) void lines?.then((each) => each.clear());
    else void select(selected, (selection) => selection.show({ scroll: true }));
  };
  show();
  addEventListener('hashchange', show);
  for (const text of all) {
    const { content } = text;
    content.addEventListener('click', (event) => {
      const isNumber = event.clientX - content.getBoundingClientRect().left + content.scrollLeft < NUMBERS_PX;
      if (isNumber) void select(text, (selection) => selection.click(event));
    });
    startNumbers(content, () => void text.lines?.then((selection) => selection.showAgain()));
  }
  const form = optional('line-form', HTMLFormElement);
  if (form === null || all.length === 0) return; // a paste that was deleted by its read has no addresses of lines
  const of = optional('lines-of', HTMLSelectElement);
  of?.append(...all.map(({ content }, index) => new Option(content.ariaLabel ?? '', String(index))));
  form.hidden = false;
  form.addEventListener('input', () => form.querySelector('input')?.setCustomValidity(''));
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const text = all[Number(of?.value ?? 0)];
    if (text !== undefined) void select(text, (selection) => selection.submit(form));
  });
}

/** The link to lines stands above them: on a page of several texts, in the bar of theirs. */
function placeLink({ prefix, content }: ShownText): void {
  const link = optional('copy-lines', HTMLButtonElement);
  if (link === null || prefix === '' || link.parentElement?.parentElement === content.parentElement) return;
  content.parentElement?.querySelector('.bar .right')?.before(link);
}

/** The module that numbers lines that wrap is loaded for a text that has too many lines for rows. */
export function startNumbers(content: HTMLElement, onNumbered = (): void => {}): void {
  const chunks = [...content.querySelectorAll<HTMLElement>('.chunk:not(.long):has(> .numbers)')];
  if (chunks.length > 0)
    void import('./number-rows.ts').then(({ keepNumbers }) => keepNumbers(chunks, onNumbered));
}
