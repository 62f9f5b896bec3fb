import { expect, it } from '@jest/globals';
import { until } from '@pasteflow/dev-stack/testing';
import { DependencyUnavailableError, pasteUpload, type Machine } from '@pasteflow/domain';
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import {
  claimExecutions,
  createPastes,
  findPaste,
  installStateMachines,
  migrate,
  settleExecutions,
  uploadSubject,
  type Database,
} from '../../src/index.ts';
import { migrations } from '../../src/migrations/all.ts';
import { newPaste, open, pasteToCreate, useOwnServer } from '../support/database.ts';

const current = useOwnServer({ fresh: 'database' });

/** Creates, claims and settles until it is stopped. @returns how many uploads it settled */
async function upload(name: string, signal: AbortSignal): Promise<number> {
  let settled = 0;
  while (!signal.aborted) {
    const { shortCode } = await newPaste(current.db);
    const claims = await claimExecutions(current.db, uploadSubject, {
      keys: [shortCode],
      actor: name,
      leaseSeconds: 6,
    });
    const claim = claims.get(shortCode);
    if (claim?.kind !== 'claimed') throw new Error('not claimed');
    const { executionId } = claim.execution;
    const outcome = { kind: 'succeeded', s3Url: 's3://b/k' } as const;
    const result = await settleExecutions(
      current.db,
      uploadSubject,
      [{ executionId, outcome, nextStep: { kind: 'done' } }],
      {
        actor: name,
        dispatched: true,
      },
    );
    settled += result.size;
  }
  return settled;
}

/** The same machine with another transition, so that guards and recorders are replaced. */
const widened: Machine = {
  ...pasteUpload,
  states: { ...pasteUpload.states, FAILED: { meaning: 'may be tried again', to: ['IN_PROGRESS'] } },
};

it('a deploy and the statements of running services do not fail each other, whether the machines change or not', async () => {
  const stop = new AbortController();
  const uploads = Array.from({ length: 6 }, (_, n) => upload(`w${n}`, stop.signal));
  const all = Promise.all(uploads);
  all.catch(() => {}); // awaited below
  for (let n = 0; n < 5; n++) {
    await migrate(current.db);
    await installStateMachines(current.db, [widened]);
  }
  stop.abort();
  for (const settled of await all) expect(settled).toBeGreaterThan(0);
});

it('a deploy that changes nothing takes no lock that writes wait for', async () => {
  const writing = await current.db.startTransaction().execute();
  await sql`LOCK TABLE pastes, task_executions, jobs IN ROW EXCLUSIVE MODE`.execute(writing);
  await migrate(current.db);
  await writing.rollback().execute();
});

it('a migration does not keep a table that a transaction wants while it waits for another table of that transaction', async () => {
  const another: Migration = {
    up: async (db) => {
      await sql`ALTER TABLE pastes ADD COLUMN another integer`.execute(db);
      await sql`ALTER TABLE task_executions ADD COLUMN another integer`.execute(db);
    },
  };
  const writing = await current.db.startTransaction().execute();
  await sql`LOCK TABLE task_executions IN ROW EXCLUSIVE MODE`.execute(writing);
  const migrated = migrate(current.db, {}, { ...migrations, '9999-another': another });
  migrated.catch(() => {}); // awaited below
  await until(async () => {
    const { rows } = await sql`
      SELECT FROM pg_locks WHERE relation = 'task_executions'::regclass AND mode = 'AccessExclusiveLock' AND NOT granted`.execute(
      current.db,
    );
    return rows.length > 0;
  });
  await sql`LOCK TABLE pastes IN ROW EXCLUSIVE MODE`.execute(writing);
  await writing.commit().execute();
  expect(await migrated).toEqual(['9999-another']);
});

/**
 * Runs statements with kept plans until it is stopped.
 * @returns how often Postgres refused a transaction, which the caller may repeat
 */
async function useKeptPlans(
  db: Database,
  counts: number[],
  lane: number,
  signal: AbortSignal,
): Promise<number> {
  let refused = 0;
  while (!signal.aborted) {
    const { shortCode } = await newPaste(db);
    const group = [pasteToCreate(), pasteToCreate()];
    expect(await createPastes(db, group)).toHaveLength(group.length);
    for (const code of [shortCode, ...group.map((paste) => paste.shortCode)])
      expect(await findPaste(db, code)).toMatchObject({ short_code: code });
    const inTransaction = () => db.transaction().execute((tx) => findPaste(tx, shortCode));
    const found = await inTransaction().catch((error: unknown) => {
      expect(error).toBeInstanceOf(DependencyUnavailableError);
      refused += 1;
      return null;
    });
    if (found !== null) expect(found).toMatchObject({ short_code: shortCode });
    counts[lane] = (counts[lane] ?? 0) + 1;
  }
  return refused;
}

it('migrations that change the columns of kept plans fail no statement of services under load', async () => {
  const LANES = 6;
  const db = open(current.url, LANES);
  const stop = new AbortController();
  const counts = Array.from({ length: LANES }, () => 0);
  const lanes = Promise.all(counts.map((_, lane) => useKeptPlans(db, counts, lane, stop.signal)));
  lanes.catch(() => stop.abort()); // awaited below
  try {
    for (let n = 0; n < 5; n++) {
      const before = [...counts];
      // Each connection keeps a plan after five executions.
      await until(
        () => stop.signal.aborted || counts.every((count, lane) => count >= (before[lane] ?? 0) + 10),
      );
      await sql`ALTER TABLE pastes ADD COLUMN ${sql.id(`added_${n}`)} integer DEFAULT 7`.execute(current.db);
    }
    const before = [...counts];
    await until(() => stop.signal.aborted || counts.every((count, lane) => count > (before[lane] ?? 0)));
    const { shortCode } = await newPaste(db);
    expect(await findPaste(db, shortCode)).toMatchObject({ added_4: 7 });
  } finally {
    stop.abort();
    await lanes;
    await db.destroy();
  }
});

it('names the idle transaction that it has waited for, and migrates when that has ended', async () => {
  const idle = await current.db.startTransaction().execute();
  await sql`SET LOCAL idle_in_transaction_session_timeout = 0`.execute(idle); // a busy machine is slower than it
  const { rows } = await sql<{
    pid: number;
  }>`SELECT pg_backend_pid() AS pid FROM (SELECT count(*) FROM jobs) AS read`.execute(idle);
  const lock: Migration = {
    up: async (tx) => {
      await sql`LOCK TABLE jobs`.execute(tx);
    },
  };
  const all = { ...migrations, '9999-lock': lock };
  await expect(migrate(current.db, {}, all)).rejects.toThrow(
    new RegExp(
      `^the process ${rows[0]!.pid} of Postgres \\(user \\w+, application "[^"]*", for \\d+ s idle in transaction\\) has locked a table\\.`,
    ),
  );
  await idle.rollback().execute();
  expect(await migrate(current.db, {}, all)).toEqual(['9999-lock']);
}, 120_000);
