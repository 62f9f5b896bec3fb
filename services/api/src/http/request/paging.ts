import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE } from '@pasteflow/domain';
import type { Page, PageRequest } from '@pasteflow/postgres';
import { decodeCursor, encodeCursor } from '@pasteflow/service-kit';
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
