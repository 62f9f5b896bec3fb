/** 10 MiB of content (docs/http-api.md). */
export const DEFAULT_MAX_PASTE_BYTES = 10 * 1024 * 1024;

/**
 * Content up to this size travels in its message. As base64, 44 KiB take 60,076 bytes, so that content,
 * attributes and JSON fit into 64 KiB, the unit that SQS bills.
 */
export const INLINE_CONTENT_BYTES = 44 * 1024;

/** SQS: the maximum of messages in one SendMessageBatch, ReceiveMessage or DeleteMessageBatch. */
export const SQS_BATCH_SIZE = 10;

/** S3: the maximum of keys in one DeleteObjects call. A cleanup claims as many pastes. */
export const DELETION_BATCH_SIZE = 1000;

/** For this long after the claim of a reveal, its reader may repeat the reveal. */
export const REVEAL_MINUTES = 5;

export const MAX_SYNTAX_CHARACTERS = 50;

/** Of a report, and of the contact of its sender. The table `paste_reports` has the same limits. */
export const MAX_REPORT_CHARACTERS = 1000;
export const MAX_REPORT_CONTACT_CHARACTERS = 200;

/** Of a paste. No more are stored, and operators see all of them. */
export const MAX_OPEN_REPORTS = 100;

/** Of a request for secrets. The table `secret_requests` has the same limits. */
export const MAX_REQUEST_MESSAGE_CHARACTERS = 200;
export const MAX_DEPOSITS = 20;
export const MAX_REQUEST_SECONDS = 30 * 24 * 60 * 60;
export const DEFAULT_REQUEST_SECONDS = 7 * 24 * 60 * 60;

/** Of one user. Two that are made at the same moment may exceed it. */
export const MAX_OPEN_REQUESTS = 100;

/** Of the name that an identity provider gives. */
export const MAX_SHOWN_NAME_CHARACTERS = 100;

/** `expires_in` in seconds: from one minute to one year. By default a house has 30 days. */
export const MIN_EXPIRY_SECONDS = 60;
export const MAX_EXPIRY_SECONDS = 31_536_000;
export const DEFAULT_EXPIRY_SECONDS = 30 * 24 * 60 * 60;

/** Who can read a paste: everyone who has the short code, those of them who are signed in, or the owner only. */
export const visibilities = ['unlisted', 'members', 'private'] as const;
export type Visibility = (typeof visibilities)[number];

/** Rows in one page of a list: default 20, at most 100. */
export const DEFAULT_PAGE_SIZE = 20;
export const MAX_PAGE_SIZE = 100;

const SECONDS = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 } as const;

/** A time as people type it: `90` (seconds), `30m`, `12h`, `7d` or `4w`. */
export const DURATION = /^(\d{1,9})([smhdw]?)$/;

/** @returns whole seconds; null: the text is no time */
export function secondsOf(text: string): number | null {
  const [, count, unit = ''] = DURATION.exec(text) ?? [];
  return count === undefined ? null : Number(count) * SECONDS[(unit || 's') as keyof typeof SECONDS];
}

/** What a token that its user has made may do. `write` includes `read`. Neither makes tokens. */
export const ownTokenScopes = ['read', 'write'] as const;

export type OwnTokenScope = (typeof ownTokenScopes)[number];

/** `full` is for tokens that an operator has made, and for who signs in at the identity provider. */
export type TokenScope = OwnTokenScope | 'full';

/** More than the machines and scripts of a person. */
export const MAX_OWN_TOKENS = 50;

export const MAX_TOKEN_NAME_CHARACTERS = 100;

/**
 * Whether a text can be the name of a token or a user. Names are shown, and typed, side by side: what can't be
 * seen, or changes the direction of writing, would make one look like another. An emoji may have its variation.
 */
export function isVisibleName(text: string): boolean {
  return text.isWellFormed() && !INVISIBLE.test(text.replaceAll('\ufe0f', ''));
}

const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u;

/**
 * The name that an identity provider gives, as people are shown it: on one line, without what can't be seen or changes
 * the direction of writing. Anybody can call themselves anything, so it names nobody for certain.
 * @param claim of a token: anything
 * @returns null: nothing is left to show
 */
export function shownNameFrom(claim: unknown): string | null {
  if (typeof claim !== 'string' || claim.length > MAX_CLAIM_CHARACTERS) return null;
  return Array.from(visibleLine(claim)).slice(0, MAX_SHOWN_NAME_CHARACTERS).join('').trim() || null;
}

/** What a stranger writes, on one line, without what can't be seen, changes the direction, or covers other lines. */
export function visibleLine(text: string): string {
  const visible = text
    .toWellFormed()
    .replace(/[\s\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .replace(UNSHOWN, '');
  return visible.normalize('NFC').replace(STACKED, '$1').replace(/\s+/g, ' ').trim();
}

/** Longer than any name: nothing that long is cleaned. */
const MAX_CLAIM_CHARACTERS = 10_000;

/** Also what has no glyph in common fonts: private, unassigned and lone characters, and the empty pattern of Braille. */
const UNSHOWN = /[\p{Cf}\p{Default_Ignorable_Code_Point}\p{Co}\p{Cn}\u2800\ufffd]/gu;

/** Browsers draw marks over one another, and a hundred of them over the lines above. No script needs more than six. */
const STACKED = /(\p{M}{8})\p{M}+/gu;
