import { createHash, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createTestDatabase, startTestPostgres, type TestPostgres } from '@pasteflow/dev-stack/testing';
import { INTERRUPTED } from '@pasteflow/domain';
import { sql } from 'kysely';
import {
  answerIdempotencyKey,
  claimDeliveries,
  claimExecutions,
  claimIdempotencyKey,
  claimJob as claimDueJob,
  createPaste,
  createPastes,
  createWebhook,
  deliverySubject,
  ensureUser,
  findPaste,
  findPasteBySlug,
  findPastes,
  jobSubject,
  readPayload,
  settleExecutions,
  stampDispatched,
  stampUnlocked,
  uploadSubject,
  useApiToken,
  type ClaimedDelivery,
  type ClaimedJob,
  type Database,
  type UploadSettlement,
} from '../../src/index.ts';
import { prepared } from '../../src/database/prepared.ts';
import { makeDeliveries } from '../../src/testing/index.ts';
import { newPaste, openToFill, pasteToCreate } from '../support/database.ts';
import { explain } from '../support/explain.ts';
import { KeptPlans } from '../support/explain-kept.ts';
import { addBacklog, keepStatistics } from '../support/fill.ts';
import { failed, succeeded } from '../support/webhooks.ts';
import { completed, failure, newJob, runningJob, settlementOf } from '../support/jobs.ts';

/**
 * The worst case for a plan that is kept: it was made when every table was empty or had one row and the
 * statistics said so, and no statistics were gathered since, although 20,000 uploads wait now. A service that
 * starts with a new database during an outage of S3 has such plans.
 */
const BACKLOG = 20_000;
/**
 * A plan with the same paths may look at a few pages more: the statement's trigger functions are planned
 * anew, too.
 */
const MAX_GROWTH = 1.5;
const FEW_PAGES = 30;

let stack: TestPostgres;
let url: string;
let kept: KeptPlans;
let filling: Database;
let userId: string;
let paste: Awaited<ReturnType<typeof newPaste>>;
// While the plans are made, these name nothing.
let waiting: readonly string[] = ['none'];
let waitingUploads: readonly string[] = [randomUUID()];
let runningUploads: readonly string[] = [randomUUID()];
let waitingJob: string = randomUUID();
let running = { executionId: randomUUID(), attempt: 1, losses: 0 } as ClaimedJob;
let sent = { executionId: randomUUID() } as ClaimedDelivery;

beforeAll(async () => {
  stack = await startTestPostgres();
  ({ url } = await createTestDatabase(stack));
  filling = openToFill(url);
  await keepStatistics(filling);
  paste = await newPaste(filling);
  userId = await ensureUser(filling, 'owner');
  await sql`VACUUM (ANALYZE)`.execute(filling);
  kept = await KeptPlans.connect(url);
  for (const run of Object.values(hot)) await kept.explain(run);
  await addWork();
  await addBacklog(filling, BACKLOG);
}, 120_000);

/** Ten uploads that wait, ten that run, a job that waits, and one that runs. */
async function addWork(): Promise<void> {
  const pastes = [];
  for (let n = 0; n < 20; n++) pastes.push(await newPaste(filling));
  const codes = pastes.map(({ shortCode }) => shortCode);
  waiting = codes.slice(0, 10);
  waitingUploads = pastes.slice(0, 10).map(({ executionId }) => executionId);
  await claimUploads(filling, codes.slice(10));
  runningUploads = pastes.slice(10).map(({ executionId }) => executionId);
  waitingJob = (await newJob(filling)).id;
  running = await runningJob(filling);
  const listening = { userId, url: 'https://hooks.example.com/', events: ['paste.stored'] } as const;
  const endpoint = await createWebhook(filling, listening);
  await makeDeliveries(filling, endpoint!.id, BACKLOG, { status: 'WAITING' });
  sent = (await claimToSend(filling)).deliveries[0]!;
}

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

const claimUploads = (db: Database, keys: readonly string[], takeSuspects = true) =>
  claimExecutions(db, uploadSubject, { keys, actor: 'w', leaseSeconds: 0, takeSuspects });
const settle = (db: Database, settlements: readonly UploadSettlement[], onlyPastLease = false) =>
  settleExecutions(db, uploadSubject, settlements, { actor: 'w', dispatched: true, onlyPastLease });
const settleJob = (db: Database, settlement: Parameters<typeof settlementOf>) =>
  settleExecutions(db, jobSubject, [settlementOf(...settlement)], { actor: 'w', dispatched: true });

const claimToSend = (db: Database) =>
  claimDeliveries(db, {
    actor: 'w',
    leaseSeconds: 0,
    after: null,
    running: [],
    limit: 10,
    perUser: 10,
    perEndpoint: 10,
  });
const settleSent = (db: Database, ending: typeof succeeded | typeof failed) =>
  settleExecutions(db, deliverySubject, [{ executionId: sent.executionId, ...ending }], {
    actor: 'w',
    dispatched: false,
  });

const stored = (executionId: string): UploadSettlement => ({
  executionId,
  outcome: { kind: 'succeeded', s3Url: 's3://b/k' },
  nextStep: { kind: 'done' },
});
const retried = (executionId: string): UploadSettlement => ({
  executionId,
  outcome: { kind: INTERRUPTED },
  nextStep: { kind: 'retry', attempt: 1, delayMs: 0 },
});
const givenUp = (executionId: string): UploadSettlement => ({
  executionId,
  outcome: { kind: 'failed', error: 'S3 refuses the object' },
  nextStep: { kind: 'give_up', reason: 'S3 refuses the object' },
});

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
  'creating 20 pastes in a group under quotas': (db) =>
    createPastes(
      db,
      Array.from({ length: 20 }, () => pasteToCreate({ userId })),
      { quotas: { maxPastes: 1e9, maxBytes: 1e12, maxStoredPastes: 1e9, maxStoredBytes: 1e12 } },
    ),
  'creating a paste from another': (db) => createPaste(db, pasteToCreate({ parent: paste.shortCode })),
  'creating 20 pastes from others in a group': (db) =>
    createPastes(
      db,
      Array.from({ length: 20 }, () => pasteToCreate({ parent: paste.shortCode })),
    ),
  'reading a paste': (db) => findPaste(db, paste.shortCode),
  'reading 20 pastes together': (db) =>
    findPastes(db, [paste.shortCode, ...Array.from({ length: 19 }, () => randomUUID())]),
  'reading a paste by its slug': (db) => findPasteBySlug(db, 'release-notes'),
  'reading a payload': (db) => readPayload(db, paste.id),
  'finding a token': (db) => useApiToken(db, Buffer.alloc(32)),
  'claiming an idempotency key': (db) => claimIdempotencyKey(db, key),
  'keeping the answer of an idempotency key': (db) => answerIdempotencyKey(db, key, Buffer.alloc(1000)),
  'stamping ten uploads': (db) => stampDispatched(db, waitingUploads),
  'stamping ten uploads that nobody locks': (db) => stampUnlocked(db, waitingUploads),
  'claiming an upload': (db) => claimUploads(db, waiting.slice(0, 1)),
  'claiming ten uploads': (db) => claimUploads(db, waiting),
  'claiming ten uploads without suspects': (db) => claimUploads(db, waiting, false),
  'settling an upload as stored': (db) => settle(db, runningUploads.slice(0, 1).map(stored)),
  'settling ten uploads as stored': (db) => settle(db, runningUploads.map(stored)),
  'settling ten uploads that are tried again': (db) => settle(db, runningUploads.map(retried)),
  'settling ten uploads that are given up': (db) => settle(db, runningUploads.map(givenUp)),
  'settling ten uploads past their lease': (db) => settle(db, runningUploads.map(retried), true),
  'claiming a job': (db) =>
    claimExecutions(db, jobSubject, { keys: [waitingJob], actor: 'w', leaseSeconds: 600 }),
  'claiming the job whose turn it is': (db) =>
    claimDueJob(db, { jobId: waitingJob, actor: 'w', leaseSeconds: 600 }).catch(() => undefined),
  'settling a job as completed': (db) => settleJob(db, [running, { kind: 'succeeded' }, completed]),
  'claiming ten deliveries': (db) => claimToSend(db).catch(() => undefined), // under EXPLAIN it returns no place
  'settling a delivery as delivered': (db) => settleSent(db, succeeded),
  'settling a delivery that is tried again': (db) => settleSent(db, failed),
  'settling a job that failed': (db) => settleJob(db, [running, failure]),
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
