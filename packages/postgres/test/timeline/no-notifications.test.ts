import { describe, expect, it } from '@jest/globals';
import { until } from '@pasteflow/dev-stack/testing';
import { sql } from 'kysely';
import { Client } from 'pg';
import {
  claimExecutions,
  createJob,
  requestDeletion,
  settleExecutions,
  uploadSubject,
  writeProgress,
  type Database,
} from '../../src/index.ts';
import { makePastes, makeUsers } from '../../src/testing/index.ts';
import { newPaste, open, useOwnServer } from '../support/database.ts';
import { claimJob } from '../support/jobs.ts';

const current = useOwnServer({ fresh: 'file' });

/** Each kind of change that a client may wait for. */
async function changeEverything(db: Database, count: number): Promise<void> {
  const made = await makePastes(db, count, { status: 'IN_PROGRESS' });
  const shortCodes = made.map(({ shortCode }) => shortCode);
  await claimExecutions(db, uploadSubject, { keys: shortCodes, actor: 'w', leaseSeconds: 60 });
  const settlements = made.map(({ executionId }) => ({
    executionId,
    outcome: { kind: 'succeeded' as const, s3Url: 's3://b/k' },
    nextStep: { kind: 'done' as const },
  }));
  const settled = await settleExecutions(db, uploadSubject, settlements, { actor: 'w', dispatched: true });
  expect(settled.size).toBe(count);
  await requestDeletion(db, (await newPaste(db)).id);
  const [user] = await makeUsers(db, 1);
  const { id: jobId } = await createJob(db, { userId: user!.id, jobType: 'export', parameters: {} });
  const { executionId } = await claimJob(db, jobId);
  await writeProgress(db, { jobId, executionId, percent: 10, message: 'a tenth' });
}

describe('transitions send no notification', () => {
  it('from any function of the database', async () => {
    const { rows } = await sql`
      SELECT proname FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND prosrc ~* 'notify'`.execute(
      current.db,
    );
    expect(rows).toEqual([]);
  });

  it('so a listener that reads nothing keeps no notification in the queue of the cluster', async () => {
    const listener = new Client({ connectionString: current.url });
    await listener.connect();
    const heard: string[] = [];
    listener.on('notification', ({ payload = '' }) => heard.push(payload));
    await listener.query('LISTEN pasteflow_changes');
    await listener.query('BEGIN'); // a listener in a transaction takes nothing from the queue
    for (let n = 0; n < 5; n += 1) await changeEverything(current.db, 150);
    const { rows } = await sql<{ usage: number }>`SELECT pg_notification_queue_usage() AS usage`.execute(
      current.db,
    );
    expect(rows).toEqual([{ usage: 0 }]);
    await listener.query('COMMIT');
    await listener.query('SELECT 1'); // its answer follows the notifications that were sent before
    expect(heard).toEqual([]);
    await listener.end();
  });
});

/**
 * The lock that a commit with a notification takes: of the database with the id 0, which stands for the
 * cluster.
 */
const NOTIFY_LOCK = `locktype = 'object' AND classid = 'pg_database'::regclass AND objid = 0`;

/**
 * Makes the commit of another session hang after it has taken the lock that all notifying commits of the
 * cluster need: it waits for a standby that does not exist. The sessions of `db` don't wait for the standby.
 */
async function withNotifyLockHeld(run: (db: Database) => Promise<void>): Promise<void> {
  const admin = new Client({ connectionString: current.url });
  const notifier = new Client({ connectionString: current.url });
  await Promise.all([admin.connect(), notifier.connect()]);
  await admin.query(
    `ALTER DATABASE ${new URL(current.url).pathname.slice(1)} SET synchronous_commit = local`,
  );
  const db = open(current.url);
  try {
    await notifier.query('CREATE TABLE notifier (n integer)');
    await admin.query(`ALTER SYSTEM SET synchronous_standby_names = 'absent'`);
    await admin.query('SELECT pg_reload_conf()');
    await notifier.query('SET synchronous_commit = on');
    const has = async (rows: string): Promise<boolean> =>
      (await admin.query(`SELECT ${rows}`)).rows.length === 1;
    // Until Postgres has read its new settings a commit waits for no standby: then another one is sent.
    let commit: Promise<unknown> = Promise.resolve();
    let isCommitting = false;
    await until(async () => {
      if (!isCommitting) {
        isCommitting = true;
        commit = notifier
          .query('BEGIN; INSERT INTO notifier VALUES (1); NOTIFY pasteflow_changes; COMMIT')
          .finally(() => (isCommitting = false));
      }
      return has(`FROM pg_stat_activity WHERE wait_event = 'SyncRep'`);
    });
    await run(db);
    expect(await has(`FROM pg_locks WHERE ${NOTIFY_LOCK} AND granted`)).toBe(true); // until the end
    await admin.query('ALTER SYSTEM RESET synchronous_standby_names');
    await admin.query('SELECT pg_reload_conf()');
    await commit;
  } finally {
    await admin.query('ALTER SYSTEM RESET synchronous_standby_names');
    await admin.query('SELECT pg_reload_conf()');
    await Promise.all([db.destroy(), notifier.end(), admin.end()]);
  }
}

it('transitions commit while another session holds the lock of notifying commits', async () => {
  let isDone = false;
  await withNotifyLockHeld(async (db) => {
    await changeEverything(db, 10);
    isDone = true;
  });
  expect(isDone).toBe(true);
});
