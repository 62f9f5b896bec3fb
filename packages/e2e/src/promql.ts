const KEYWORDS = new Set(['and', 'or', 'unless', 'bool', 'offset', 'inf', 'nan']);

/**
 * The selectors in an expression, such as `up{job="api"}`. Recognised by their form: a name before a parenthesis is a function, and the
 * names in the parentheses of `by`, `on` and similar keywords are labels.
 */
export function selectorsIn(expression: string): string[] {
  const strings: string[] = [];
  const text = expression
    .replaceAll(/"(?:[^"\\]|\\.)*"/g, (string) => `"${strings.push(string) - 1}"`)
    .replaceAll(/\b(by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)/g, ' ')
    .replaceAll(/\[[^\]]*\]/g, '');
  const selectors = [...text.matchAll(/([a-zA-Z_:][\w:]*)\s*(\{[^}]*\})?(\s*\()?/g)].flatMap(
    ([, name = '', labels = '', call]) =>
      call !== undefined || KEYWORDS.has(name.toLowerCase()) ? [] : [`${name}${labels}`],
  );
  return [...new Set(selectors)].map((selector) =>
    selector.replaceAll(/"(\d+)"/g, (_, index: string) => strings[Number(index)] ?? ''),
  );
}
