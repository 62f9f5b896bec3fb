import { expect, it } from '@jest/globals';
import {
  findOverdue,
  findUndispatched,
  findZombies,
  stampDispatched,
  uploadSubject,
  type Database,
} from '../../src/index.ts';
import { lockRow, makePastes, type ExecutionShape } from '../../src/testing/index.ts';
import { useDatabase } from '../support/database.ts';

const current = useDatabase();

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

it('a stamp changes no execution that a worker has claimed', async () => {
  const execution = { status: 'RUNNING', leaseSeconds: 600 } as const;
  const [paste] = await makePastes(current.db, 1, { status: 'IN_PROGRESS', execution });
  const dispatchedAt = () => current.db.selectFrom('task_executions').select('dispatched_at').execute();
  const before = await dispatchedAt();
  await stampDispatched(current.db, [paste!.executionId]);
  expect(await dispatchedAt()).toEqual(before);
});
