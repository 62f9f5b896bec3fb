import { DEFAULT_PAGE_SIZE, isUuid, MAX_PAGE_SIZE } from '@pasteflow/domain';
import type { Page, PageRequest, Place } from '@pasteflow/postgres';
import { z } from 'zod';

/** The number of rows of a page. */
export function limitField({ standard, max }: { standard: number; max: number }) {
  const rule = `must be a whole number from 1 to ${max}`;
  return z
    .preprocess(
      (value) => (typeof value === 'string' && /^\d{1,4}$/.test(value) ? Number(value) : value),
      z.int(rule).min(1, rule).max(max, rule).default(standard),
    )
    .meta({ description: 'The maximum number of rows on the page.', param: { example: 2 } });
}

/** The parameters of every list. */
export const pageFields = {
  limit: limitField({ standard: DEFAULT_PAGE_SIZE, max: MAX_PAGE_SIZE }),
  cursor: z
    .string()
    .transform((text, context) => {
      const place = decodeCursor(text);
      if (place !== null) return place;
      context.addIssue('must be the next_cursor of an earlier page');
      return z.NEVER;
    })
    .optional()
    .meta({
      description: 'The next_cursor of the previous page. Without it, the page starts with the newest row.',
      param: {
        id: 'Cursor',
        example: encodeCursor({
          createdAt: '2026-11-21 12:00:00.123456+00',
          id: '019aa5b2-7c00-7000-8000-000000000000',
        }),
      },
    }),
};

/** In the answer to every list. */
export const nextCursor = z
  .string()
  .nullable()
  .meta({ description: 'The cursor of the next page; null: this page is the last.' });

const pageQuery = z.object(pageFields);

export function pageRequestOf({ limit, cursor }: z.output<typeof pageQuery>): PageRequest {
  return { limit, after: cursor ?? null };
}

export function nextCursorOf({ next }: Pick<Page<unknown>, 'next'>): string | null {
  return next === null ? null : encodeCursor(next);
}

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
