/**
 * The lines of a content, each with its newline, which only the last one may lack. The bytes are written as Latin-1, a character for each
 * byte, so that any content can be compared and written again byte for byte.
 * @returns null when there are more lines than `maxLines`
 */
export function linesOf(content: Buffer, maxLines: number): readonly string[] | null {
  const text = content.toString('latin1');
  const lines: string[] = [];
  for (let start = 0; start < text.length;) {
    if (lines.length === maxLines) return null;
    const newline = text.indexOf('\n', start);
    const end = newline === -1 ? text.length : newline + 1;
    lines.push(text.slice(start, end));
    start = end;
  }
  return lines;
}

/** A line without a carriage return before its newline: browsers drop those from what is typed into a form. */
export function withoutReturn(line: string): string {
  return line.endsWith('\r\n') ? `${line.slice(0, -2)}\n` : line;
}
