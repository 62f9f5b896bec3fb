/** 10 MiB of content (http-api.md). */
export const DEFAULT_MAX_PASTE_BYTES = 10 * 1024 * 1024;

/**
 * Content up to here travels inside its message. 44 KiB are 60,076 bytes as base64, so that message, attributes and JSON stay inside
 * one 64 KiB unit, which is what SQS bills.
 */
export const INLINE_CONTENT_BYTES = 44 * 1024;

/** SQS: messages in one SendMessageBatch, ReceiveMessage or DeleteMessageBatch. */
export const SQS_BATCH_SIZE = 10;

/** S3: keys in one DeleteObjects call; also the claim size of a cleanup (D3). */
export const DELETION_BATCH_SIZE = 1000;

export const MAX_TITLE_CHARACTERS = 200;
export const MAX_SYNTAX_CHARACTERS = 50;

/** `expires_in`, in seconds: from a minute to a year, 30 days unless told. */
export const MIN_EXPIRY_SECONDS = 60;
export const MAX_EXPIRY_SECONDS = 31_536_000;
export const DEFAULT_EXPIRY_SECONDS = 30 * 24 * 60 * 60;

/** Who can read a paste: whoever has its short code, or its owner alone. */
export const visibilities = ['unlisted', 'private'] as const;
export type Visibility = (typeof visibilities)[number];

/** A page of a list: 20 unless told, at most 100. */
export const DEFAULT_PAGE_SIZE = 20;
export const MAX_PAGE_SIZE = 100;
