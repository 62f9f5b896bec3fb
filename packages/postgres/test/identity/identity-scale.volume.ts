import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createTestDatabase, startTestPostgres, type TestPostgres } from '@pasteflow/dev-stack/testing';
import type { PasteUploadState } from '@pasteflow/domain';
import { sql } from 'kysely';
import {
  createApiToken,
  createDatabase,
  createPaste,
  ensureUser,
  listPastes,
  useApiToken,
  type Database,
  type Place,
} from '../../src/index.ts';
import { open } from '../support/database.ts';
import { explain, type Cost } from '../support/explain.ts';
import { fillOwner } from '../support/fill-owner.ts';
import { FILL_LIMIT_MS, large, mostPages, prepareToFill, small } from '../support/scale.ts';

/** Each state has a third of four fifths of the pastes of the owner: each list has a page 10,000. */
const FAR_PAGE = 10_000;
const LIMIT = Math.max(1, Math.floor((large * 0.8) / 3 / FAR_PAGE / 1.1));

/**
 * After this share of the owner's pastes, those of the other states lie between the PROCESSED ones, as at
 * page 10,000 of the long list. The list of the PROCESSED pastes skips them (see listPastes): a page there
 * costs what a page of the short list costs at such a place.
 */
const AMONG_OTHERS = 0.25;

interface Scene {
  readonly url: string;
  readonly owner: string;
}

const hash = (text: string) => createHash('sha256').update(text).digest();

const options = { applicationName: 'test', maxConnections: 2, onConnectionError: () => {} };

let stack: TestPostgres;
const scenes: Scene[] = [];

beforeAll(async () => {
  stack = await startTestPostgres();
  await prepareToFill(stack);
  for (const rows of [small, large]) {
    const { url } = await createTestDatabase(stack);
    // Inserting a million rows takes longer than the statement timeout.
    const db = createDatabase({ ...options, url, statementTimeoutMs: 0 });
    const owner = await fillOwner(db, 'owner', rows);
    await createApiToken(db, {
      userName: 'owner',
      name: 'n',
      tokenHash: hash('known'),
      expiresInSeconds: null,
    });
    scenes.push({ url, owner });
    await db.destroy();
  }
}, FILL_LIMIT_MS);

afterAll(async () => {
  await stack?.stop();
});

const lists: readonly (PasteUploadState | null)[] = [null, 'IN_PROGRESS', 'PROCESSED', 'FAILED'];

it.each(lists)(
  'a page of the list costs the same at every place and for every length of the list (%s)',
  async (status) => {
    const page = async ({ url, owner }: Scene, skipped: number): Promise<Cost> => {
      const after = await placeAt(url, { owner, status, skipped });
      return await explain(url, (db) => listPastes(db, { userId: owner, status }, { limit: LIMIT, after }));
    };
    const costs = [
      await page(scenes[0]!, 0),
      await page(scenes[0]!, AMONG_OTHERS * small),
      await page(scenes[1]!, 0),
      await page(scenes[1]!, (FAR_PAGE - 1) * LIMIT),
    ];
    const [newest, mixed, first, far] = costs.map(({ buffers }) => buffers) as [
      number,
      number,
      number,
      number,
    ];
    const short = status === 'PROCESSED' ? Math.max(newest, mixed) : newest;
    process.stderr.write(
      `listing ${status ?? 'all'}, ${LIMIT} a page: ${short} pages of ${small} rows, ${first} of ${large}, ${far} for page ${FAR_PAGE}\n`,
    );
    expect(costs.flatMap(({ scanned }) => scanned)).toEqual([]);
    expect(costs.map(({ statements }) => statements)).toEqual([1, 1, 1, 1]);
    for (const cost of [first, far]) expect(cost).toBeLessThanOrEqual(mostPages(short));
  },
);

/** The place after this many pastes of the owner; null for none. */
async function placeAt(
  url: string,
  { owner, status, skipped }: { owner: string; status: PasteUploadState | null; skipped: number },
): Promise<Place | null> {
  if (skipped === 0) return null;
  const db = open(url, 1);
  try {
    const { rows } = await sql<Place>`
      SELECT created_at::text AS "createdAt", id FROM pastes
      WHERE user_id = ${owner} AND status = coalesce(${status}, status)
      ORDER BY created_at DESC, id DESC LIMIT 1 OFFSET ${skipped - 1}`.execute(db);
    return (rows as [Place])[0];
  } finally {
    await db.destroy();
  }
}

const others: Record<string, (db: Database, scene: Scene) => Promise<unknown>> = {
  'finding the user of a token and recording its use': (db) => useApiToken(db, hash('known')),
  'finding no user of a token': (db) => useApiToken(db, hash('unknown')),
  'finding a user': (db) => ensureUser(db, 'user 7').catch(() => undefined), // under EXPLAIN it answers no row
  'creating a user': (db) => ensureUser(db, 'new').catch(() => undefined),
  'creating a token': (db) =>
    createApiToken(db, {
      userName: 'user 7',
      name: 'n',
      tokenHash: hash('new'),
      expiresInSeconds: null,
    }).catch(() => undefined), // under EXPLAIN it returns no row
  'creating a paste with an owner': (db, { owner }) =>
    createPaste(db, {
      userId: owner,
      visibility: 'private',
      shortCode: 'new',
      content: Buffer.from('x'),
      contentHash: `sha256:${'0'.repeat(64)}`,
      title: null,
      syntax: null,
      expiresInSeconds: 60,
      deleteTokenHash: null,
    }),
};

it.each(Object.keys(others))('%s reads as many pages in a large table as in a small one', async (name) => {
  const costs = [];
  for (const scene of scenes) costs.push(await explain(scene.url, (db) => others[name]!(db, scene)));
  const [before, after] = costs as [Cost, Cost];
  process.stderr.write(`${name}: ${before.buffers} pages at ${small} rows, ${after.buffers} at ${large}\n`);
  expect(after.scanned).toEqual([]);
  expect(after.buffers).toBeLessThanOrEqual(mostPages(before.buffers));
});
