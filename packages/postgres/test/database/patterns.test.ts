import { expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { useDatabase } from '../support/database.ts';

const current = useDatabase({ fresh: 'file' });

const HASH = `sha256:${'0123456789abcdef'.repeat(4)}`;

const insert = (shortCode: string, contentHash: string): Promise<unknown> =>
  sql`INSERT INTO pastes (short_code, content_hash, size_bytes) VALUES (${shortCode}, ${contentHash}, 1)`.execute(
    current.db,
  );

it.each(['a', 'Z9', 'x'.repeat(32)])('pastes accepts the short code %j', async (shortCode) => {
  await insert(shortCode, HASH);
});

it.each(['', 'x'.repeat(33), 'a-b', 'a b', 'ab\n', '\nab', 'ä', '٣'])(
  'pastes refuses the short code %j',
  async (shortCode) => {
    await expect(insert(shortCode, HASH)).rejects.toMatchObject({ constraint: 'pastes_short_code_check' });
  },
);

it.each([
  '',
  HASH.slice(0, -1),
  `${HASH}0`,
  `${HASH.slice(0, -1)}\n`,
  `${HASH}\n`,
  `${HASH.slice(0, -1)}A`,
  `${HASH.slice(0, -1)}g`,
  `${HASH.slice(0, -1)}ä`,
  `SHA256:${HASH.slice(7)}`,
  `sha512:${HASH.slice(7)}`,
  ` ${HASH.slice(0, -1)}`,
  `${HASH.slice(7)}0000000`,
])('pastes refuses the content hash %j', async (contentHash) => {
  await expect(insert('hashed', contentHash)).rejects.toMatchObject({
    constraint: 'pastes_content_hash_check',
  });
});

/**
 * A statement that changes a paste evaluates every check of the table. A check of a NULL evaluates no
 * pattern.
 */
it('no check of a column that is always set counts in a regular expression', async () => {
  const { rows } = await sql<{ name: string }>`
    SELECT conname AS name FROM pg_constraint
    JOIN pg_attribute ON attrelid = conrelid AND attnum = ANY (conkey)
    WHERE contype = 'c' AND attnotnull AND conrelid::regclass::text IN ('pastes', 'paste_payloads', 'task_executions')
      AND pg_get_constraintdef(pg_constraint.oid) ~ '\\{[0-9]'`.execute(current.db);
  expect(rows).toEqual([]);
});
