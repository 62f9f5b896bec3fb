import { expect, it } from '@jest/globals';
import { sql } from 'kysely';
import {
  claimExecutions,
  defaultTimeBounds,
  findExecutionsAhead,
  findOverdue,
  findSubjectOf,
  findUndispatched,
  findZombies,
  removeOrphans,
  stampDispatched,
  stampUnlocked,
  undispatched,
  uploadSubject,
  type Database,
} from '../../src/index.ts';
import { lockRow, makePastes, type ExecutionShape, type MadePaste } from '../../src/testing/index.ts';
import { useDatabase } from '../support/database.ts';
import { explain } from '../support/explain.ts';
import { newJob } from '../support/jobs.ts';

const current = useDatabase();

const timesAhead = (db: Database) =>
  findExecutionsAhead(db, 'upload', { bounds: defaultTimeBounds, limit: 10 });

const limits = { limit: 10, graceSeconds: 60, olderThanSeconds: 60 };

type Search = (db: Database) => Promise<{ readonly items: readonly { readonly executionId: string }[] }>;

it.each<[string, ExecutionShape, Search]>([
  ['zombies', { status: 'RUNNING', leaseSeconds: -1 }, (db) => findZombies(db, uploadSubject, 10)],
  [
    'executions without a message',
    { status: 'PENDING', dueSecondsAgo: 600 },
    (db) => findUndispatched(db, uploadSubject, limits),
  ],
  [
    'executions whose message may be lost',
    { status: 'PENDING', dueSecondsAgo: 600, dispatchedSecondsAgo: 600 },
    (db) => findOverdue(db, uploadSubject, limits),
  ],
])('%s that another session has locked are left out, and not waited for', async (_, execution, search) => {
  const [locked, other] = await makePastes(current.db, 2, { status: 'IN_PROGRESS', execution });
  const release = await lockRow(current.db, 'task_executions', locked!.executionId);
  try {
    const { items } = await search(current.db);
    expect(items.map(({ executionId }) => executionId)).toEqual([other!.executionId]);
  } finally {
    await release();
  }
  expect((await search(current.db)).items).toHaveLength(2);
});

it.each<[string, ExecutionShape]>([
  ['was not sent', { status: 'PENDING', dueSecondsAgo: -9000 }],
  ['was sent ahead, too', { status: 'PENDING', dispatchedSecondsAgo: -9000 }],
  [
    'was sent by a clock that was right',
    { status: 'PENDING', dueSecondsAgo: -9000, dispatchedSecondsAgo: 1 },
  ],
])('an execution that is due too far ahead is found when it %s', async (_, execution) => {
  const [ahead] = await makePastes(current.db, 1, { status: 'IN_PROGRESS', execution });
  await makePastes(current.db, 1, {
    status: 'IN_PROGRESS',
    execution: { status: 'PENDING', dueSecondsAgo: -1 },
  });
  expect(await timesAhead(current.db)).toEqual([ahead!.executionId]);
});

it('a search for times ahead reads no more in a backlog that waits for its messages', async () => {
  const pages = async (url = current.url) => (await explain(url, timesAhead)).buffers;
  await makePastes(current.db, 100, { status: 'IN_PROGRESS', execution: { status: 'PENDING' } });
  const before = await pages();
  await makePastes(current.db, 3000, { status: 'IN_PROGRESS', execution: { status: 'PENDING' } });
  expect(await pages()).toBeLessThanOrEqual(before + 10);
});

it('a stamp changes no execution that a worker has claimed', async () => {
  const execution = { status: 'RUNNING', leaseSeconds: 600 } as const;
  const [paste] = await makePastes(current.db, 1, { status: 'IN_PROGRESS', execution });
  const dispatchedAt = () => current.db.selectFrom('task_executions').select('dispatched_at').execute();
  const before = await dispatchedAt();
  await stampDispatched(current.db, [paste!.executionId]);
  expect(await dispatchedAt()).toEqual(before);
});

it('a stamp and a claim say when the message was sent: the stamp of each named execution counts, and else the claim', async () => {
  const pastes = await makePastes(current.db, 3, { status: 'IN_PROGRESS' });
  const [stamped, claimed, left] = pastes as [MadePaste, MadePaste, MadePaste];
  const dispatchedAt = async ({ executionId }: MadePaste) => {
    const row = await current.db
      .selectFrom('task_executions')
      .select('dispatched_at')
      .where('id', '=', executionId)
      .executeTakeFirstOrThrow();
    return row.dispatched_at;
  };
  await stampDispatched(current.db, [stamped.executionId]);
  expect([await dispatchedAt(claimed), await dispatchedAt(left)]).toEqual([null, null]);
  const stamp = await dispatchedAt(stamped);
  const keys = [stamped.shortCode, claimed.shortCode];
  await claimExecutions(current.db, uploadSubject, { keys, actor: 'w', leaseSeconds: 600 });
  expect(await dispatchedAt(stamped)).toEqual(stamp);
  expect(await dispatchedAt(claimed)).toEqual(expect.any(Date));
  expect(await dispatchedAt(left)).toBeNull();
});

it('executions whose paste is gone are counted by a search, and removed without the others', async () => {
  const execution = { status: 'PENDING', dueSecondsAgo: 600 } as const;
  const [paste] = await makePastes(current.db, 1, { status: 'IN_PROGRESS', execution });
  const { rows } = await sql<{ id: string }>`
    INSERT INTO task_executions (kind, subject_id, attempt, run_at)
    VALUES ('upload', gen_random_uuid(), 1, now() - interval '600 s'), ('upload', gen_random_uuid(), 1, now()) RETURNING id`.execute(
    current.db,
  );
  const [orphan, young] = rows.map(({ id }) => id);
  const { items, orphans } = await findUndispatched(current.db, uploadSubject, limits);
  expect({ found: items.map(({ executionId }) => executionId), orphans }).toEqual({
    found: [paste!.executionId],
    orphans: 1,
  });
  expect(await removeOrphans(current.db, uploadSubject, undispatched(60), 10)).toEqual([orphan]);
  const left = await current.db.selectFrom('task_executions').select('id').execute();
  expect(new Set(left.map(({ id }) => id))).toEqual(new Set([paste!.executionId, young]));
});

it('an execution is an attempt at a paste, named by its short code, or at a job, named by its id', async () => {
  const [paste, other] = await makePastes(current.db, 2, { status: 'IN_PROGRESS' });
  const { id, executionId } = await newJob(current.db);
  const subjects = [paste!.executionId, other!.executionId, executionId, id].map((execution) =>
    findSubjectOf(current.db, execution),
  );
  expect(await Promise.all(subjects)).toEqual([paste!.shortCode, other!.shortCode, id, null]);
});

it('the stamps of many requests wait for no locked execution', async () => {
  const execution = { status: 'PENDING', dueSecondsAgo: 600 } as const;
  const made = await makePastes(current.db, 3, { status: 'IN_PROGRESS', execution });
  const executionIds = made.map(({ executionId }) => executionId);
  const release = await lockRow(current.db, 'task_executions', executionIds[2]!);
  try {
    await stampUnlocked(current.db, executionIds);
  } finally {
    await release();
  }
  const { rows } = await sql`SELECT id FROM task_executions WHERE dispatched_at IS NULL`.execute(current.db);
  expect(rows).toEqual([{ id: executionIds[2] }]);
});
