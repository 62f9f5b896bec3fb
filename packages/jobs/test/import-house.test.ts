import { describe, expect, it } from '@jest/globals';
import { retryJob } from '@pasteflow/postgres';
import { sql } from 'kysely';
import { attempt, newUser, run } from './support/attempts.ts';
import { importedBy, waitingPaste } from './support/pastes.ts';
import { tarOf } from './support/tar.ts';
import { useWorld } from './support/world.ts';

const world = useWorld();
const DAY = 86_400;

const expiryRules = { default: 3600, max: 7 * DAY, never: false };

async function imported(parameters: object) {
  const userId = await newUser(world);
  const made = await run(world, 'import', parameters, { userId, expiryRules });
  return { ...made, pastes: await importedBy(world, made.job.jobId) };
}

const inDays = (days: number): string => new Date(Date.now() + days * DAY * 1000).toISOString();
const REFUSED = 'must be at most 604800 seconds on this service';
const CHOOSE = `expires_at: ${REFUSED}; choose expires_in`;

describe('an import in a house with rules', () => {
  it('refuses each entry that breaks one, and keeps those that say nothing for the time of the house', async () => {
    const items = [
      { content: 'nothing said' },
      { content: 'obeys', expires_in: '7d' },
      { content: 'too long', expires_in: '8d' },
      { content: 'for ever', expires_in: 'never' },
      {
        files: [
          { name: 'a', content: 'of' },
          { name: 'b', content: 'files' },
        ],
        expires_in: 'never',
      },
      { content: 'of an export', expires_at: inDays(8), short_code: 'q7Zk2Lm9Xa' },
      { content: 'for ever in an export', expires_at: null, short_code: 'q7Zk2Lm9Xb' },
      { content: 'over in an export', expires_at: inDays(-1), short_code: 'q7Zk2Lm9Xc' },
    ];
    const { ending, result, pastes } = await imported({ items });
    expect(ending.status).toBe('partial');
    expect(pastes.map(({ position, expires_in }) => [position, expires_in])).toEqual([
      [0, 3600],
      [1, 7 * DAY],
      [7, 3600],
    ]);
    const reasons = [2, 3, 4].map((position) => [position, `expires_in: ${REFUSED}`]);
    const { errors } = result as { errors: { position: number; reason: string }[] };
    expect(errors.map(({ position, reason }) => [position, reason])).toEqual([
      ...reasons,
      [5, CHOOSE],
      [6, CHOOSE],
    ]);
  });

  it('takes lines of an export with a time that was chosen for all', async () => {
    const source = await waitingPaste(
      world,
      JSON.stringify({ content: 'x', expires_at: null, short_code: 'q7Zk2Lm9Xa' }),
    );
    const { pastes } = await imported({ source_short_code: source, expires_in: '2d' });
    expect(pastes.map(({ expires_in }) => expires_in)).toEqual([2 * DAY]);
  });

  it('refuses the files of an archive for a time that was chosen before the rule was', async () => {
    const files = [{ name: 'a', content: Buffer.from('a') }];
    const archive = await waitingPaste(world, tarOf(files));
    expect((await imported({ source_short_code: archive })).pastes).toMatchObject([{ expires_in: 3600 }]);
    const late = await imported({ source_short_code: archive, expires_in: 'never' });
    expect(late.result).toMatchObject({ imported: 0, errors: [{ reason: `expires_in: ${REFUSED}` }] });
  });

  it('obeys the rules under which it was accepted, also when it is retried', async () => {
    const source = await waitingPaste(world, '{"content":"for ever","expires_in":"never"}\n{"content":"x"}');
    const userId = await newUser(world);
    const parameters = { source_short_code: source };
    const before = await run(world, 'import', parameters, { userId }); // of an earlier release, or without rules
    expect(before.result).toMatchObject({ imported: 2, failed: 0 });
    const { job } = await run(world, 'import', parameters, { userId, expiryRules });
    await sql`UPDATE jobs SET status = 'partial', completed_at = now() WHERE id = ${job.jobId}`.execute(
      world.db,
    );
    const retried = await retryJob(world.db, job.jobId, null);
    if (retried.kind !== 'created') throw new Error(`not retried: ${retried.kind}`);
    expect((await attempt(world, retried.job.id)).ending).toMatchObject({
      status: 'failed',
      result: { imported_earlier: 1, errors: [{ position: 0, reason: `expires_in: ${REFUSED}` }] },
    });
  });
});
