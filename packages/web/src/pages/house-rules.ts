import { expiryUnlessChosen, longestExpiry, mayStayForEver } from '@pasteflow/domain';
import { formatSize, formatWhole } from '../html/formats.ts';
import type { Site } from '../html/layout.ts';

// What the forms offer, and why one is refused, by the rules of the house. Pastes without an owner have rules of their own.

type Rules = Pick<Site, 'house' | 'words'>;

/** The times that a form offers: the usual ones as far as the house allows them, its own one, and its longest. */
export function expiryChoices(
  { house, words: { form, ...words } }: Rules,
  isAnonymous: boolean,
): readonly (readonly [value: string, name: string])[] {
  const { never, ...usual } = form.expiries;
  const longest = longestExpiry(house, isAnonymous);
  const times = [
    ...Object.keys(usual).map(Number),
    expiryUnlessChosen(house, isAnonymous) ?? longest,
    longest,
  ];
  const offered = [...new Set(times)].filter((seconds) => seconds <= longest).toSorted((a, b) => a - b);
  const names: Readonly<Record<string, string>> = usual;
  return [
    ...offered.map((seconds) => {
      const name = names[seconds] ?? form.expiresAfter(formatWhole(seconds, words));
      return [String(seconds), name] as const;
    }),
    ...(mayStayForEver(house, isAnonymous) ? [['never', never] as const] : []),
  ];
}

/** What a form begins with. */
export function usualExpiry({ house, viewer }: Pick<Site, 'house' | 'viewer'>): string {
  return String(expiryUnlessChosen(house, viewer === null) ?? 'never');
}

/** A day, if the house keeps pastes for that long, also where nothing else is chosen. */
export function secretExpiry({ house, viewer }: Pick<Site, 'house' | 'viewer'>): string {
  const isAnonymous = viewer === null;
  const usual = expiryUnlessChosen(house, isAnonymous) ?? Infinity;
  return String(Math.min(86_400, usual, longestExpiry(house, isAnonymous)));
}

/** Whether all that this reader can create is deleted when it is read. */
export function mustBurn({ house, viewer }: Pick<Site, 'house' | 'viewer'>): boolean {
  return viewer === null && house.anonymous.burnOnly;
}

/** The largest content that this reader can create. */
export function maxBytesFor(
  { house, viewer }: Pick<Site, 'house' | 'viewer'>,
  maxPasteBytes: number,
): number {
  return Math.min(maxPasteBytes, (viewer === null ? house.anonymous.maxBytes : null) ?? Infinity);
}

/** A rule of the house that a field breaks, in the language of the page; null: it breaks another one. */
export function brokenRule(
  { house, words }: Rules,
  { path, message }: { readonly path: string; readonly message: string },
  isAnonymous: boolean,
): string | null {
  const { maxBytes, burnOnly } = house.anonymous;
  const isTooMuch = /^must (?:be|have) (?:at most|from)/.test(message);
  if (path === 'expires_in' && isTooMuch)
    return words.form.atMost(formatWhole(longestExpiry(house, isAnonymous), words));
  if (path === 'burn' && isAnonymous && burnOnly) return words.form.burnOnly;
  if (path === 'content' && isAnonymous && maxBytes !== null && isTooMuch)
    return words.form.atMost(formatSize(maxBytes, words));
  return null;
}
