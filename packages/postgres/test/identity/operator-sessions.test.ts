import { randomBytes } from 'node:crypto';
import { expect, it } from '@jest/globals';
import { beginOperatorSession, findOperatorSession } from '../../src/index.ts';
import { useDatabase } from '../support/database.ts';

const current = useDatabase({ fresh: 'file' });

async function begin(actor: string): Promise<Buffer> {
  const secretHash = randomBytes(32);
  await beginOperatorSession(current.db, {
    secretHash,
    actor,
    may: 'nothing',
    lastsSeconds: 3600,
  });
  return secretHash;
}

const isGood = async (secretHash: Buffer) => (await findOperatorSession(current.db, secretHash)) !== null;

it('a person has the twenty newest sessions, whatever name the person chooses, and ends none of another', async () => {
  const other = await begin('ops-oidc/eve#other');
  const begun = [];
  for (let nth = 0; nth < 25; nth += 1) begun.push(await begin(`ops-oidc/name${nth}#eve`));
  const good = await Promise.all(begun.map(isGood));
  expect(good).toEqual([...Array<boolean>(5).fill(false), ...Array<boolean>(20).fill(true)]);
  expect(await isGood(other)).toBe(true);
});
