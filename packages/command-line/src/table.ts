/** One line a row, below a line of headings. A column whose heading begins with `>` is aligned to the right. */
export function formatTable(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [
    headings.map((heading) => heading.replace(/^>/, '')),
    ...rows.map((row) => row.map(toOneLine)),
  ];
  const widths = headings.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  const toLine = (line: readonly string[]): string =>
    line
      .map((cell, column) => {
        const width = widths[column] ?? 0;
        return headings[column]?.startsWith('>') === true ? cell.padStart(width) : cell.padEnd(width);
      })
      .join('  ')
      .trimEnd();
  return `${lines.map(toLine).join('\n')}\n`;
}

/** Replaces control and formatting characters with spaces: text from S3, from a job or from a user must not move the terminal's cursor. */
export function toOneLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ');
}
