import { expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { claimExecutions, readTimeline, settleExecutions, uploadSubject } from '../../src/index.ts';
import { newPaste, useDatabase } from '../support/database.ts';

const current = useDatabase();

it('the trail is in the order of the transitions, also when the clock of Postgres was set back between them', async () => {
  const { db } = current;
  const { shortCode, executionId, id } = await newPaste(db);
  await claimExecutions(db, uploadSubject, { keys: [shortCode], actor: 'w', leaseSeconds: 600 });
  // As if the clock had been an hour ahead at the claim. The trail refuses the change, so its triggers are
  // off for a moment.
  await sql`ALTER TABLE state_transitions DISABLE TRIGGER ALL`.execute(db);
  await sql`UPDATE state_transitions SET at = at + interval '1 hour'`.execute(db);
  await sql`ALTER TABLE state_transitions ENABLE TRIGGER ALL`.execute(db);
  const stored = {
    executionId,
    outcome: { kind: 'succeeded', s3Url: 's3://bucket/key' },
    nextStep: { kind: 'done' },
  } as const;
  await settleExecutions(db, uploadSubject, [stored], { actor: 'w', dispatched: true });

  const { transitions } = await readTimeline(db, id);
  expect(transitions.map(({ machine, to }) => [machine, to])).toEqual([
    ['task_execution', 'RUNNING'],
    ['task_execution', 'SUCCEEDED'],
    ['paste_upload', 'PROCESSED'],
  ]);
  const [claimed, ended] = transitions.map(({ at }) => Number(at));
  expect(claimed).toBeGreaterThan(ended!);
});
