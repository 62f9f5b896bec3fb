import { expect, it } from '@jest/globals';
import { pasteUpload, type Machine } from '@pasteflow/domain';
import { sql } from 'kysely';
import {
  claimExecutions,
  installStateMachines,
  migrate,
  settleExecutions,
  uploadSubject,
} from '../../src/index.ts';
import { newPaste, useDatabase } from '../support/database.ts';

const current = useDatabase();

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
