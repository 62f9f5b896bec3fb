/** What examples are written with: the domains of RFC 2606, accounts of one digit, certificates of zeros. */
const PLACEHOLDER =
  /\bexample\.(?:com|net|org)\b|\b(\d)\1{11}\b|\b0{8}-0{4}-0{4}-0{4}-0{12}\b|change[-_]?me/i;

/** The paths of all texts of a configuration that are still those of the example: `domain.name`. */
export function placeholders(value: unknown, path: readonly string[] = []): string[] {
  if (typeof value === 'string') return PLACEHOLDER.test(value) ? [path.join('.')] : [];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => placeholders(inner, [...path, name]));
}
