import { expect, it } from '@jest/globals';
import { claimExecutions, uploadSubject } from '../../src/index.ts';
import { makePastes } from '../../src/testing/index.ts';
import { useDatabase } from '../support/database.ts';

const current = useDatabase();

it('work that was lost twice is not claimed together with other work, until it is claimed alone', async () => {
  const lostSoOften = async (losses: number): Promise<string> => {
    const [paste] = await makePastes(current.db, 1, {
      status: 'IN_PROGRESS',
      execution: { status: 'PENDING', losses },
    });
    return paste!.shortCode;
  };
  const [healthy, lostOnce, suspect] = [await lostSoOften(0), await lostSoOften(1), await lostSoOften(2)];
  const keys = [healthy, lostOnce, suspect];
  const lease = { actor: 'w', leaseSeconds: 600 };
  const together = await claimExecutions(current.db, uploadSubject, { keys, ...lease, takeSuspects: false });
  expect(keys.map((key) => together.get(key)?.kind)).toEqual(['claimed', 'claimed', 'suspect']);
  const alone = await claimExecutions(current.db, uploadSubject, { keys: [suspect], ...lease });
  expect(alone.get(suspect)).toMatchObject({ kind: 'claimed', execution: { losses: 2 } });
});
