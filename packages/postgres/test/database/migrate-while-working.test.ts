import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createTestDatabase, startTestStack, type TestStack } from '@pasteflow/dev-stack/testing';
import { sql } from 'kysely';
import { Migrator } from 'kysely/migration';
import {
  claimExecutions,
  installStateMachines,
  measureTransitions,
  settleExecutions,
  uploadSubject,
  type Database,
} from '../../src/index.ts';
import { migrations } from '../../src/migrations/all.ts';
import { newPaste, open } from '../support/database.ts';

let stack: TestStack;
let db: Database;
beforeAll(async () => {
  stack = await startTestStack();
  db = open((await createTestDatabase(stack, { migrated: false })).url);
});
afterAll(async () => {
  await db?.destroy();
  await stack?.stop();
});

async function upload(worker: string, signal: AbortSignal): Promise<number> {
  let settled = 0;
  while (!signal.aborted) {
    const { shortCode, executionId } = await newPaste(db);
    await claimExecutions(db, uploadSubject, { keys: [shortCode], actor: worker, leaseSeconds: 6 });
    const outcome = { kind: 'succeeded', s3Url: 's3://b/k' } as const;
    const settlement = { executionId, outcome, nextStep: { kind: 'done' } } as const;
    settled += (await settleExecutions(db, uploadSubject, [settlement], { actor: worker, dispatched: true }))
      .size;
  }
  return settled;
}

/** Settlements lock executions first, creations pastes first. Both write the audit trail last. */
it('the migration of the measurements and the statements of a running service do not fail each other', async () => {
  const migrator = new Migrator({ db, provider: { getMigrations: () => Promise.resolve(migrations) } });
  const { error } = await migrator.migrateTo('0012-rate-limits');
  expect(error).toBeUndefined();
  await migrations['0016-losses']!.up(db); // the statements of today name its columns
  await migrations['0018-fair-jobs']!.up(db);
  await migrations['0022-takedowns']!.up(db);
  await migrations['0023-encrypted-pastes']!.up(db);
  await migrations['0025-stored-encoding']!.up(db);
  await migrations['0026-burn-after-reading']!.up(db);
  await migrations['0030-slugs']!.up(db);
  await migrations['0031-parents']!.up(db);
  await installStateMachines(db);
  const stop = new AbortController();
  const all = Promise.all(Array.from({ length: 6 }, (_, n) => upload(`w${n}`, stop.signal)));
  all.catch(() => {}); // awaited below
  const trail = async () => (await sql`SELECT FROM state_transitions LIMIT 100`.execute(db)).rows.length;
  while ((await trail()) < 100);
  const { results = [], error: failure } = await migrator.migrateTo('0014-what-jobs-made');
  expect(failure).toBeUndefined();
  expect(results.map(({ migrationName }) => migrationName)).toContain('0013-measurements');
  await installStateMachines(db);
  stop.abort();
  for (const settled of await all) expect(settled).toBeGreaterThan(0);
  const { rows } = await sql<{ count: number }>`
    SELECT count(*)::integer AS count FROM state_transitions WHERE txid IS NOT NULL`.execute(db);
  expect(await measureTransitions(db, { limit: 100_000 })).toBe(rows[0]!.count);
});
