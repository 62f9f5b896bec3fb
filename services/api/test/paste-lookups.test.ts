import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createDatabase, requestDeletion, findPaste, type Database } from '@pasteflow/postgres';
import { PasteLookups } from '../src/pastes/paste-lookups.ts';
import { useApi } from './support/api.ts';
import { newPaste, pasteRow, processedPaste } from './support/pastes.ts';

const bed = useApi();

let db: Database;
let lookups: PasteLookups;
const statements: string[] = [];

beforeAll(() => {
  db = createDatabase({
    url: bed.databaseUrl,
    applicationName: 'test',
    maxConnections: 4,
    onConnectionError: () => {},
    onStatement: ({ query: { sql } }) => statements.push(sql),
  });
  lookups = new PasteLookups(db, { slowMs: 60_000 });
});

afterAll(async () => {
  await db?.destroy();
});

it('look-ups that arrive while one is under way are made by one statement, and each gets the row of its own code', async () => {
  const codes = [await newPaste(bed.db, 'open'), await processedPaste(bed, 'stored'), await newPaste(bed.db)];
  const asked = [codes[0]!, codes[1]!, 'noSuchCode', codes[2]!, codes[1]!, codes[0]!];
  statements.length = 0;
  const found = await Promise.all(asked.map((code) => lookups.find(code)));
  expect(statements).toHaveLength(2); // the first starts at once, alone
  const alone = await Promise.all(asked.map((code) => findPaste(bed.db, code)));
  expect(found).toEqual(alone);
  expect(found.map((row) => row?.short_code ?? 'noSuchCode')).toEqual(asked);
});

it('a look-up after a deletion finds the paste gone, also when a look-up of it was under way before', async () => {
  const code = await newPaste(bed.db);
  const { id } = (await pasteRow(bed.db, code))!;
  const before = [lookups.find(code), lookups.find(code)];
  await requestDeletion(bed.db, id);
  const after = await lookups.find(code);
  expect(after).toMatchObject({ gone: true });
  for (const row of await Promise.all(before)) expect(row).toMatchObject({ short_code: code });
});

it('all look-ups of a group fail when Postgres does not answer', async () => {
  const gone = createDatabase({
    url: 'postgres://127.0.0.1:1/gone',
    applicationName: 'test',
    maxConnections: 1,
    onConnectionError: () => {},
  });
  const failing = new PasteLookups(gone);
  const outcomes = await Promise.allSettled(['a', 'b', 'c'].map((code) => failing.find(code)));
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  await gone.destroy();
});
