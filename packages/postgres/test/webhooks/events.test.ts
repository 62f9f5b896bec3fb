import { describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import {
  cancelJob,
  claimExpired,
  createJob,
  ensureUser,
  findPaste,
  isTimeout,
  listDeliveriesTo,
  removeWebhook,
  reportPaste,
  resetStuckDeletions,
  revealPaste,
  countUntoldEvents,
  switchOffWebhook,
  type Database,
} from '../../src/index.ts';
import { lockRow, makePastes } from '../../src/testing/index.ts';
import { useDatabase } from '../support/database.ts';
import { useWebhooks } from '../support/webhooks.ts';

const current = useDatabase();
const bed = useWebhooks(current);

describe('what happens', () => {
  it('is told to the endpoints of its owner that ask for it, and to nobody else', async () => {
    const bob = await ensureUser(current.db, 'bob');
    const mine = await bed.listen(['paste.stored', 'paste.failed']);
    const other = await bed.listen(['job.ended']);
    const ofBob = await bed.listen(['paste.stored'], bob);
    const ofOperators = await bed.listen(['paste.stored', 'upload.failed'], null);
    const stored = await bed.upload(bed.userId, 'stored');
    const lost = await bed.upload(bed.userId, 'failed');
    await bed.upload(null, 'stored');
    const anonymous = await bed.upload(null, 'failed');
    expect(await bed.told(mine)).toEqual([
      ['paste.stored', stored],
      ['paste.failed', lost],
    ]);
    expect(await bed.told(other)).toEqual([]);
    expect(await bed.told(ofBob)).toEqual([]);
    expect(await bed.told(ofOperators)).toEqual([
      ['upload.failed', lost],
      ['upload.failed', anonymous],
    ]);
  });

  it('has one id at all endpoints, and one delivery at each', async () => {
    const [first, second] = [
      await bed.listen(['job.ended']),
      await bed.listen(['job.ended', 'paste.stored']),
    ];
    const jobId = await bed.endJob();
    const lists = await Promise.all(
      [first, second].map(async (id) => await listDeliveriesTo(current.db, id, { limit: 10, after: null })),
    );
    expect(lists.map(({ rows }) => rows.map(({ about }) => about))).toEqual([[jobId], [jobId]]);
    expect(lists[0]!.rows[0]!.eventId).toBe(lists[1]!.rows[0]!.eventId);
  });

  it('is written nowhere while nobody listens', async () => {
    const off = await bed.listen(['job.ended']);
    await switchOffWebhook(current.db, off);
    const removed = await bed.listen(['job.ended']);
    await removeWebhook(current.db, removed, bed.userId);
    await bed.endJob();
    const { rows } = await sql`SELECT FROM webhook_deliveries`.execute(current.db);
    expect(rows).toEqual([]);
  });

  it('of a deletion is told at its first claim, as an expiry, a deletion or a reading', async () => {
    const endpoint = await bed.listen(['paste.deleted', 'paste.expired', 'paste.read']);
    const own = { status: 'PROCESSED', userId: bed.userId } as const;
    const [expired] = await makePastes(current.db, 1, { ...own, expiresInSeconds: -60 });
    const [deleted] = await makePastes(current.db, 1, { ...own, expiresInSeconds: 3600 });
    const [read] = await makePastes(current.db, 1, { ...own, burn: true, expiresInSeconds: 3600 });
    await sql`UPDATE pastes SET deletion_requested_at = now() WHERE id = ${deleted!.id}::uuid`.execute(
      current.db,
    );
    await revealPaste(current.db, read!.id, { readerKeyHash: Buffer.alloc(32), actor: 'api/test' });
    for (let n = 0; n < 2; n += 1) {
      await claimExpired(current.db, { actor: 'janitor/test', limit: 10 });
      await resetStuckDeletions(current.db, { actor: 'janitor/test', limit: 10, stuckAfterSeconds: -1 });
    }
    expect(new Set((await bed.told(endpoint)).map(String))).toEqual(
      new Set(
        [
          ['paste.deleted', deleted!.shortCode],
          ['paste.expired', expired!.shortCode],
          ['paste.read', read!.shortCode],
        ].map(String),
      ),
    );
  });

  it('is told to operators when somebody reports a paste', async () => {
    const endpoint = await bed.listen(['report.opened'], null);
    const [paste] = await makePastes(current.db, 1, { status: 'PROCESSED' });
    const report = { class: 'spam', text: null, contact: null } as const;
    await reportPaste(current.db, paste!.id, { ...report, reporter: '192.0.2.1' }, null);
    await reportPaste(current.db, paste!.id, { ...report, reporter: '192.0.2.1' }, null);
    expect(await bed.told(endpoint)).toEqual([['report.opened', paste!.shortCode]]);
  });

  it('waits for nobody who has locked an endpoint', async () => {
    const endpoint = await bed.listen(['paste.stored', 'job.ended']);
    const release = await lockRow(current.db, 'webhook_endpoints', endpoint);
    try {
      const code = await bed.upload(bed.userId, 'stored');
      const jobId = await bed.endJob();
      expect(await bed.told(endpoint)).toEqual([
        ['paste.stored', code],
        ['job.ended', jobId],
      ]);
    } finally {
      await release();
    }
  });

  it('is not told when the transaction fails', async () => {
    const endpoint = await bed.listen(['job.ended']);
    const { id } = await createJob(current.db, { userId: bed.userId, jobType: 'import', parameters: {} });
    const failing = current.db.transaction().execute(async (tx) => {
      await cancelJob(tx, { jobId: id, actor: 'api/test', by: 'its owner' });
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    expect(await bed.told(endpoint)).toEqual([]);
  });
});

it('keeps the words of a paste out of every row', async () => {
  await bed.listen(['paste.stored']);
  await bed.upload(bed.userId, 'stored');
  const { rows } = await sql<{
    text: string;
  }>`SELECT webhook_deliveries::text AS text FROM webhook_deliveries`.execute(current.db);
  expect(JSON.stringify(rows)).not.toContain('secret title');
});

describe('an event that cannot be recorded', () => {
  it('stops neither what has happened, nor the events of others', async () => {
    const before = await countUntoldEvents(current.db);
    const bob = await ensureUser(current.db, 'bob');
    const [ofAlice, ofBob] = [
      await bed.listen(['paste.stored', 'paste.expired']),
      await bed.listen(['paste.expired'], bob),
    ];
    const expired = { status: 'PROCESSED', expiresInSeconds: -60 } as const;
    await makePastes(current.db, 2, { ...expired, userId: bed.userId });
    const [paste] = await makePastes(current.db, 1, { ...expired, userId: bob });
    await sql`ALTER TABLE webhook_deliveries ADD CONSTRAINT refused CHECK (user_id <> ${sql.lit(bed.userId)})`.execute(
      current.db,
    );
    try {
      const code = await bed.upload(bed.userId, 'stored');
      expect((await findPaste(current.db, code))?.status).toBe('PROCESSED');
      expect(await claimExpired(current.db, { actor: 'janitor/test', limit: 10 })).toHaveLength(3);
    } finally {
      await sql`ALTER TABLE webhook_deliveries DROP CONSTRAINT refused`.execute(current.db);
    }
    expect(await bed.told(ofAlice)).toEqual([]);
    expect(await bed.told(ofBob)).toEqual([['paste.expired', paste!.shortCode]]);
    expect((await countUntoldEvents(current.db)) - before).toBe(3);
  });

  it('stops nothing when it cannot be counted either', async () => {
    await bed.listen(['paste.stored']);
    await sql`ALTER TABLE webhook_deliveries ADD CONSTRAINT refused CHECK (user_id IS NULL)`.execute(
      current.db,
    );
    await sql`ALTER SEQUENCE untold_events RENAME TO damaged`.execute(current.db);
    try {
      const code = await bed.upload(bed.userId, 'stored');
      expect((await findPaste(current.db, code))?.status).toBe('PROCESSED');
    } finally {
      await sql`ALTER SEQUENCE damaged RENAME TO untold_events`.execute(current.db);
      await sql`ALTER TABLE webhook_deliveries DROP CONSTRAINT refused`.execute(current.db);
    }
  });

  it('fails the statement while it has to wait, and is told when that is repeated', async () => {
    const endpoint = await bed.listen(['job.ended']);
    const { id } = await createJob(current.db, { userId: bed.userId, jobType: 'import', parameters: {} });
    const cancel = (tx: Database) => cancelJob(tx, { jobId: id, actor: 'api/test', by: 'its owner' });
    await current.db.transaction().execute(async (locking) => {
      await sql`LOCK TABLE webhook_deliveries IN EXCLUSIVE MODE`.execute(locking);
      const waiting = current.db.transaction().execute(async (tx) => {
        await sql`SET LOCAL lock_timeout = '50ms'`.execute(tx);
        await cancel(tx);
      });
      expect(await waiting.catch(isTimeout)).toBe(true);
    });
    await cancel(current.db);
    expect(await bed.told(endpoint)).toEqual([['job.ended', id]]);
  });
});
