/**
 * Why an operator takes a paste down or blocks its content, and why somebody reports a paste, in one word. The list is closed: this word is
 * what readers see. The reason in the operator's own words is for operators only.
 */
export const takedownClasses = [
  /** A court or an authority demands it, or the law plainly does. */
  'illegal',
  'copyright',
  'malware',
  'phishing',
  /** Data about a person who did not agree, or credentials that leaked. */
  'personal_data',
  'spam',
  'other',
] as const;

export type TakedownClass = (typeof takedownClasses)[number];
