/**
 * Chooses the form of a text for a number, and writes the number, for which `#` stands, as the language does.
 * Each text has all forms of the plural that the language has (CLDR).
 */
export function pluralsIn<Form extends Intl.LDMLPluralRule>(
  locale: string,
): (count: number, forms: Readonly<Record<Form, string>>) => string {
  const rules = new Intl.PluralRules(locale);
  const numbers = new Intl.NumberFormat(locale);
  return (count, forms) => forms[rules.select(count) as Form].replace('#', numbers.format(count));
}
