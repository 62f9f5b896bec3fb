/** A text as a block of code, whose fence is longer than any row of backticks in it (CommonMark, 4.5). */
export function asMarkdown(text: string, language: string): string {
  let fence = '```';
  for (const [row] of text.matchAll(/`{3,}/g)) if (row.length >= fence.length) fence = `${row}\``;
  return `${fence}${language === 'text' ? '' : language}\n${text}${text.endsWith('\n') ? '' : '\n'}${fence}\n`;
}
