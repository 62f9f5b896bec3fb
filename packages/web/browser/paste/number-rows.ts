/** The height of a line, and of a row of a line that wraps, in page.css. */
export const LINE_PX = 20;

/** The numbers of a chunk that is one text: one for each line. */
export function numbersOf(chunk: HTMLElement): readonly string[] {
  return (chunk.querySelector('.numbers')?.textContent ?? '').split(/\n+/);
}

/** The row in which a line begins. */
export function rowOf(chunk: HTMLElement, line: number): number {
  return (chunk.querySelector('.numbers')?.textContent ?? '').split('\n').indexOf(String(line));
}

/** Keeps each number beside its line when lines wrap. @param onNumbered after that */
export function keepNumbers(chunks: readonly HTMLElement[], onNumbered: () => void): void {
  const resized = new ResizeObserver((entries) => {
    for (const { target } of entries) numberRows(target.parentElement as HTMLElement);
    onNumbered();
  });
  const observer = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) {
        const text = target.querySelector('pre') as HTMLElement;
        if (isIntersecting) resized.observe(text);
        else resized.unobserve(text);
      }
    },
    { rootMargin: '600px' },
  );
  for (const chunk of chunks) observer.observe(chunk);
}

/** Whether a chunk has one text for all of its lines, instead of a row for each. */
export function isOneText(chunk: HTMLElement): boolean {
  return !chunk.classList.contains('long') && chunk.querySelector('.numbers') !== null;
}

/** Writes an empty line below a number for each further row of its line. */
export function numberRows(chunk: HTMLElement): void {
  const numbers = chunk.querySelector<HTMLElement>('.numbers');
  const text = chunk.querySelector('pre')?.firstChild;
  if (numbers === null || !(text instanceof Text)) return;
  const range = document.createRange();
  let start = 0;
  const rows = numbersOf(chunk).map((number) => {
    const newline = text.data.indexOf('\n', start);
    const end = newline === -1 ? text.length : newline;
    range.setStart(text, start);
    range.setEnd(text, end);
    start = end + 1;
    const rects = range.getClientRects(); // none of an empty line
    const height = (rects[rects.length - 1]?.top ?? 0) - (rects[0]?.top ?? 0);
    return number + '\n'.repeat(1 + Math.round(height / LINE_PX));
  });
  numbers.textContent = rows.join('').replace(/\n+$/, '');
  chunk.classList.add('numbered');
}
