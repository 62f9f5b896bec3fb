import { createHash, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createTestDatabase, startTestStack, type TestStack } from '@pasteflow/dev-stack/testing';
import { sql } from 'kysely';
import {
  answerIdempotencyKey,
  claimIdempotencyKey,
  createPaste,
  createPastes,
  ensureUser,
  findPaste,
  findPasteBySlug,
  findPastes,
  findPastesBySlug,
  readPayload,
  useApiToken,
  type Database,
} from '../../src/index.ts';
import { prepared } from '../../src/database/prepared.ts';
import { newPaste, openToFill, pasteToCreate } from '../support/database.ts';
import { explain } from '../support/explain.ts';
import { KeptPlans } from '../support/explain-kept.ts';
import { addBacklog, keepStatistics } from '../support/fill.ts';

/**
 * The worst case for a plan that is kept: it was made when every table was empty or had one row and the statistics said so, and no statistics were
 * gathered since, although 20,000 uploads wait now. A service that starts with a new database during an outage of S3 has such plans.
 */
const BACKLOG = 20_000;
/** A plan with the same paths may look at a few pages more: the statement's trigger functions are planned anew, too. */
const MAX_GROWTH = 1.5;
const FEW_PAGES = 30;

let stack: TestStack;
let url: string;
let kept: KeptPlans;
let filling: Database;
let userId: string;
let paste: Awaited<ReturnType<typeof newPaste>>;

beforeAll(async () => {
  stack = await startTestStack();
  ({ url } = await createTestDatabase(stack));
  filling = openToFill(url);
  await keepStatistics(filling);
  paste = await newPaste(filling);
  userId = await ensureUser(filling, 'owner');
  await sql`VACUUM (ANALYZE)`.execute(filling);
  kept = await KeptPlans.connect(url);
  for (const run of Object.values(hot)) await kept.explain(run);
  await addBacklog(filling, BACKLOG);
}, 120_000);

afterAll(async () => {
  await kept?.close();
  await filling?.destroy();
  await stack?.stop();
});

const key = {
  caller: 'address:7',
  keyHash: createHash('sha256').update('7').digest(),
  claimId: randomUUID(),
  fingerprint: Buffer.alloc(32),
  holdSeconds: 15,
  retentionSeconds: 86_400,
};

const hot: Record<string, (db: Database) => Promise<unknown>> = {
  'creating a paste': (db) => newPaste(db).catch(() => undefined), // under EXPLAIN it returns no row
  'creating 20 pastes in a group': (db) =>
    createPastes(
      db,
      Array.from({ length: 20 }, () => pasteToCreate()),
    ),
  'creating 20 pastes with slugs in a group': (db) =>
    createPastes(
      db,
      Array.from({ length: 20 }, () => pasteToCreate({ userId, slug: randomUUID() })),
      { maxSlugs: 1000 },
    ),
  'creating a paste from another': (db) => createPaste(db, pasteToCreate({ parent: paste.shortCode })),
  'creating 20 pastes from others in a group': (db) =>
    createPastes(
      db,
      Array.from({ length: 20 }, () => pasteToCreate({ parent: paste.shortCode })),
    ),
  'reading a paste': (db) => findPaste(db, paste.shortCode),
  'reading 20 pastes in a group': (db) =>
    findPastes(db, [paste.shortCode, ...Array.from({ length: 19 }, () => randomUUID())]),
  'reading a paste by its slug': (db) => findPasteBySlug(db, 'release-notes'),
  'reading 20 pastes by their slugs in a group': (db) =>
    findPastesBySlug(
      db,
      Array.from({ length: 20 }, () => randomUUID()),
    ),
  'reading a payload': (db) => readPayload(db, paste.id),
  'finding a token': (db) => useApiToken(db, Buffer.alloc(32)),
  'claiming an idempotency key': (db) => claimIdempotencyKey(db, key),
  'keeping the answer of an idempotency key': (db) => answerIdempotencyKey(db, key, Buffer.alloc(1000)),
};

it.each(Object.keys(hot))(
  '%s with a plan that was made for empty tables reads no more pages than with a new plan',
  async (name) => {
    const run = hot[name]!;
    const [before, after] = [await explain(url, run), await kept.explain(run)];
    process.stderr.write(
      `${name}: ${before.buffers} pages with a new plan, ${after.buffers} with the kept one\n`,
    );
    expect(after.scanned).toEqual([]);
    expect(after.buffers).toBeLessThanOrEqual(before.buffers * MAX_GROWTH + FEW_PAGES);
  },
);

it('the check detects a plan that reads the whole table', async () => {
  const planned = await KeptPlans.connect(url);
  try {
    const byHash = (db: Database) =>
      sql`${prepared}SELECT FROM pastes WHERE content_hash = ${randomUUID()}`.execute(db);
    const { buffers } = await planned.explain(byHash);
    expect(buffers).toBeGreaterThan(100);
  } finally {
    await planned.close();
  }
});
