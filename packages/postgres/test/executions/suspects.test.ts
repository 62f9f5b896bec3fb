import { expect, it } from '@jest/globals';
import { claimExecutions, uploadSubject, type Database } from '../../src/index.ts';
import { makePastes, type ExecutionShape } from '../../src/testing/index.ts';
import { useDatabase } from '../support/database.ts';
import { untilSomebodyWaits } from '../support/locks.ts';

const current = useDatabase();

async function make(execution: ExecutionShape): Promise<string> {
  const [paste] = await makePastes(current.db, 1, { status: 'IN_PROGRESS', execution });
  return paste!.shortCode;
}

const lostSoOften = (losses: number) => make({ status: 'PENDING', losses });

const claim = (keys: readonly string[], takeSuspects: boolean, db: Database = current.db) =>
  claimExecutions(db, uploadSubject, { keys, actor: 'w', leaseSeconds: 600, takeSuspects });

it('work that was lost twice is not claimed together with other work, until it is claimed alone', async () => {
  const [healthy, lostOnce, suspect] = [await lostSoOften(0), await lostSoOften(1), await lostSoOften(2)];
  const keys = [healthy, lostOnce, suspect];
  const together = await claim(keys, false);
  expect(keys.map((key) => together.get(key)?.kind)).toEqual(['claimed', 'claimed', 'suspect']);
  const alone = await claim([suspect], true);
  expect(alone.get(suspect)).toMatchObject({ kind: 'claimed', execution: { losses: 2 } });
});

it('work that was lost twice is not called suspect while it runs or before it is due', async () => {
  const running = await make({ status: 'RUNNING', losses: 2, leaseSeconds: 600 });
  const early = await make({ status: 'PENDING', losses: 2, dueSecondsAgo: -600 });
  const claims = await claim([running, early], false);
  for (const key of [running, early]) {
    const answer = claims.get(key) as { kind: string; waitMs: number };
    expect(answer.kind).toBe('not_now');
    expect(answer.waitMs).toBeGreaterThan(300_000);
  }
});

it.each([
  ['a healthy upload', 0, false],
  ['a suspect that is claimed alone', 2, true],
])('%s that another worker claims meanwhile is to be tried again after a lease', async (_, losses, alone) => {
  const key = await lostSoOften(losses);
  const other = await current.db.startTransaction().execute();
  await claim([key], true, other);
  const waiting = claim([key], alone);
  await untilSomebodyWaits(current.db);
  await other.commit().execute();
  const answer = (await waiting).get(key) as { kind: string; waitMs: number };
  expect(answer.kind).toBe('not_now');
  expect(answer.waitMs).toBeGreaterThan(300_000);
});
