import { expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { claimExpired, settleExecutions, uploadSubject, type Database } from '../../src/index.ts';
import { makePastes } from '../../src/testing/index.ts';
import { useDatabase } from '../support/database.ts';

const current = useDatabase({ fresh: 'file' });

interface Work {
  /** Calls of the recorder triggers. */
  readonly calls: number;
  readonly inserted: number;
  /** Rows read from the audit trail: writing a row reads none. */
  readonly scans: number;
  /** Indexes in which each row has an entry. */
  readonly indexes: number;
}

/**
 * The work for the audit trail that Postgres counts during a statement. `npm run proof -- bench-trail`
 * measures the times.
 */
async function workOf(run: (db: Database) => Promise<unknown>): Promise<Work> {
  return current.db.transaction().execute(async (tx) => {
    await sql`SET LOCAL track_functions = 'pl'`.execute(tx);
    const before = await counted(tx);
    await run(tx);
    const after = await counted(tx);
    return {
      calls: after.calls - before.calls,
      inserted: after.inserted - before.inserted,
      scans: after.scans - before.scans,
      indexes: after.indexes,
    };
  });
}

async function counted(db: Database): Promise<Work> {
  const { rows } = await sql<Work>`
    SELECT
      (SELECT coalesce(sum(calls), 0)::integer FROM pg_stat_xact_user_functions WHERE funcname LIKE 'record\\_%') AS calls,
      (SELECT sum(n_tup_ins)::integer FROM pg_stat_xact_user_tables WHERE relname LIKE 'state\\_transitions%') AS inserted,
      (SELECT sum(seq_scan + coalesce(idx_scan, 0))::integer FROM pg_stat_xact_user_tables WHERE relname LIKE 'state\\_transitions%') AS scans,
      (SELECT count(*)::integer FROM pg_index WHERE indrelid = 'state_transitions'::regclass AND indpred IS NULL) AS indexes`.execute(
    db,
  );
  return rows[0]!;
}

it('a settlement of ten uploads is recorded by one call for each table and twenty rows, without reads', async () => {
  const made = await makePastes(current.db, 10, { status: 'IN_PROGRESS', execution: { status: 'RUNNING' } });
  const settlements = made.map(({ executionId }) => ({
    executionId,
    outcome: { kind: 'succeeded' as const, s3Url: 's3://b/k' },
    nextStep: { kind: 'done' as const },
  }));
  expect(
    await workOf((db) => settleExecutions(db, uploadSubject, settlements, { actor: 'w', dispatched: true })),
  ).toEqual({
    calls: 2,
    inserted: 20,
    scans: 0,
    indexes: 1,
  });
});

it('a claim of a thousand pastes is recorded by one call and a thousand rows, without reads', async () => {
  await makePastes(current.db, 1000, { status: 'PROCESSED', expiresInSeconds: -5 });
  expect(await workOf((db) => claimExpired(db, { actor: 'j', limit: 1000 }))).toEqual({
    calls: 1,
    inserted: 1000,
    scans: 0,
    indexes: 1,
  });
});
