import type { Place } from '@pasteflow/postgres';
import { z } from 'zod';

/** What a timestamptz is as text, to the microsecond; anything else would be an error of Postgres, and so of ours. */
const INSTANT =
  /^([1-9]\d{3}-\d\d-\d\d)[ T](?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,6})?(?:Z|[+-](?:0\d|1[0-4])(?::[0-5]\d)?)$/;
const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;

/** As an array, since a cursor is in every URL of a long list: `["2026-11-21 12:00:00.123456+00","0193…"]`. */
const written = z.tuple([
  z.string().refine((text) => isDay(INSTANT.exec(text)?.[1] ?? '')),
  z.string().regex(UUID),
]);

/** A place in a list, as text that clients hand back as it is. */
export function encodeCursor({ createdAt, id }: Place): string {
  return Buffer.from(JSON.stringify([createdAt, id])).toString('base64url');
}

/** @returns null for what encodeCursor can't have written */
export function decodeCursor(cursor: string): Place | null {
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(cursor, 'base64url').toString());
  } catch {
    return null;
  }
  const { data } = written.safeParse(value);
  return data === undefined ? null : { createdAt: data[0], id: data[1] };
}

/** Date takes 30 February for 2 March. @param text YYYY-MM-DD */
function isDay(text: string): boolean {
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}
