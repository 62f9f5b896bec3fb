import { isUuid } from '@pasteflow/domain';
import type { Place } from '@pasteflow/postgres';
import { z } from 'zod';

/** A timestamptz as text, to the microsecond. Postgres would refuse anything else, which would be a 500. */
const INSTANT =
  /^([1-9]\d{3}-\d\d-\d\d)[ T](?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,6})?(?:Z|[+-](?:0\d|1[0-4])(?::[0-5]\d)?)$/;

/**
 * An array rather than an object, because every URL of a long list has a cursor: `["2026-11-21
 * 12:00:00.123456+00","0193…"]`.
 */
const cursorSchema = z.tuple([
  z.string().refine((text) => isDay(INSTANT.exec(text)?.[1] ?? '')),
  z.string().refine(isUuid),
]);

/** A place in a list, as opaque text that clients send to get the next page. */
export function encodeCursor({ createdAt, id }: Place): string {
  return Buffer.from(JSON.stringify([createdAt, id])).toString('base64url');
}

/** @returns null for a text that encodeCursor did not write */
export function decodeCursor(cursor: string): Place | null {
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(cursor, 'base64url').toString());
  } catch {
    return null;
  }
  const { data } = cursorSchema.safeParse(value);
  return data === undefined ? null : { createdAt: data[0], id: data[1] };
}

/** Whether the day exists: Date reads 30 February as 2 March. @param text YYYY-MM-DD */
function isDay(text: string): boolean {
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}
