import { DEFAULT_EXPIRY_SECONDS, MAX_EXPIRY_SECONDS } from './limits.ts';

/** What the operator of an installation has decided: who runs it, and what new pastes may be. */
export interface House {
  readonly name: string;
  readonly logo: Logo | null;
  /** Of `imprint`, `privacy` and `terms` a URL; `abuse` is a URL or an email address. */
  readonly links: Readonly<Record<'imprint' | 'privacy' | 'terms' | 'abuse', string | null>>;
  readonly expiry: {
    /** Of a paste whose creator says nothing, in seconds; null: never. */
    readonly default: number | null;
    /** In seconds. */
    readonly max: number;
    /** Whether a paste may be kept for ever. */
    readonly never: boolean;
  };
  /** What pastes without an owner may be, beside the rules for all pastes. null: nothing more. */
  readonly anonymous: {
    readonly maxExpiry: number | null;
    readonly maxBytes: number | null;
    /** They are deleted when they are read. */
    readonly burnOnly: boolean;
  };
  /** How long a token that a user makes may last; 0: users make none. */
  readonly maxTokenSeconds: number;
}

export interface Logo {
  readonly content: Buffer;
  readonly type: 'image/svg+xml' | 'image/png';
}

export const MAX_TOKEN_DAYS = 3650;

/** The house of an operator who has written no rules. */
export const defaultHouse: House = {
  name: 'Pasteflow',
  logo: null,
  links: { imprint: null, privacy: null, terms: null, abuse: null },
  expiry: { default: DEFAULT_EXPIRY_SECONDS, max: MAX_EXPIRY_SECONDS, never: true },
  anonymous: { maxExpiry: null, maxBytes: null, burnOnly: false },
  maxTokenSeconds: 365 * 86_400,
};

/** What decides how long a paste is kept. */
type Rules = Pick<House, 'expiry' | 'anonymous'>;

/** The longest time for which a new paste may be kept, in seconds. */
export function longestExpiry({ expiry, anonymous }: Rules, isAnonymous: boolean): number {
  return Math.min(expiry.max, (isAnonymous ? anonymous.maxExpiry : null) ?? expiry.max);
}

/** Whether a new paste may be kept for ever. */
export function mayStayForEver({ expiry, anonymous }: Rules, isAnonymous: boolean): boolean {
  return expiry.never && !(isAnonymous && anonymous.maxExpiry !== null);
}

/** For how many seconds a paste is kept whose creator says nothing; null: for ever. */
export function expiryUnlessChosen(house: Rules, isAnonymous: boolean): number | null {
  const { default: seconds } = house.expiry;
  if (seconds === null && mayStayForEver(house, isAnonymous)) return null;
  return Math.min(seconds ?? Infinity, longestExpiry(house, isAnonymous));
}
