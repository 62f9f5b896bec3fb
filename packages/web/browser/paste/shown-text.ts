/** The text that is in the page. A folded line ends where the next chunk has a number again. */
export function shownText(content: HTMLElement): string {
  return [...content.querySelectorAll('.chunk')]
    .map((chunk, index, chunks) => {
      const parts = [...chunk.querySelectorAll(':scope > :is([data-n], pre)')];
      const text = parts.map(({ textContent }) => textContent).join('');
      const goesOn = chunks[index + 1]?.querySelector('.numbers')?.textContent === '';
      return chunk.classList.contains('long') && index + 1 < chunks.length && !goesOn ? `${text}\n` : text;
    })
    .join('');
}
