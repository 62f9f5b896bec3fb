import { randomBytes } from 'node:crypto';
import { createSecretRequest, findSecretRequest, insertDeposit } from '@pasteflow/postgres';
import { makePastes, makeUsers } from '@pasteflow/postgres/testing';
import { describe, expect, it } from '@jest/globals';
import { runOpsCommand } from '../src/operations/commands/run-ops-command.ts';
import { createTombstones } from '../src/sweeps/old-rows.ts';
import { useWorldWithPage } from './page/open-page.ts';
import { running } from './world.ts';

const { world, page } = useWorldWithPage();

const ops = (...args: string[]) => runOpsCommand(args, world.env);
const because = ['--reason', 'phishing'];

interface Asked {
  readonly code: string;
  readonly userId: string;
  readonly receipt: string;
}

/** A request that takes two deposits and has one. */
async function asked({ expiresInSeconds = 3600, deletedSecondsAgo = 0 } = {}): Promise<Asked> {
  const [user] = await makeUsers(world.db, 1);
  const code = randomBytes(11).toString('hex');
  const made = { code, userId: user!.id, message: 'Your <b>password</b>', places: 2, expiresInSeconds };
  await createSecretRequest(world.db, made);
  const { id } = (await findSecretRequest(world.db, code))!;
  const [paste] = await makePastes(world.db, 1, {
    status: 'PROCESSED',
    userId: user!.id,
    visibility: 'private',
    createdSecondsAgo: deletedSecondsAgo + 60,
    ...(deletedSecondsAgo > 0 && { deletion: { status: 'DELETED', secondsAgo: deletedSecondsAgo } }),
  });
  const { shortCode } = paste!;
  await insertDeposit(world.db, { requestId: id, number: 1, shortCode, wrappedKey: Buffer.alloc(113, 1) });
  return { code, userId: user!.id, receipt: shortCode };
}

const statusOf = async (code: string) => (await findSecretRequest(world.db, code))?.status;

describe('ops close-request', () => {
  it('closes the request, records who and why, and refuses to do it twice', async () => {
    const { code, userId } = await asked();
    expect(await ops('close-request', `https://paste.example.org/requests/${code}#BKey`, ...because)).toEqual(
      {
        code: 0,
        stdout: `Closed the request ${code}. Its user is ${userId}, and 0 of 2 are deposited, which stay.\n`,
        stderr: '',
      },
    );
    expect(await statusOf(code)).toBe('CANCELLED');
    expect((await ops('timeline', code)).stdout).toMatch(
      /secret_request +OPEN → CANCELLED +pasteflow_janitor \(ops\/\S+\) +phishing$/m,
    );
    const actions = await world.db.selectFrom('operator_actions').selectAll().execute();
    expect(actions).toMatchObject([{ action: 'close-request', subject: code, reason: 'phishing' }]);
    expect(await ops('close-request', code, ...because)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`the request ${code} is CANCELLED and takes no deposits`),
    });
    const none = 'x'.repeat(22);
    expect(await ops('close-request', none, ...because)).toMatchObject({
      code: 1,
      stderr: `ops: there is no request ${none}\n`,
    });
  });

  it('is done on the page, which says who asks and for what, and is found by the link', async () => {
    const { code, userId } = await asked();
    const link = encodeURIComponent(`https://paste.example.org/requests/${code}#BKey`);
    const found = await page.call(`/find?q=${link}`);
    expect([found.status, found.headers.location]).toEqual([
      303,
      expect.stringContaining(`/confirm/close-request?subject=${code}`),
    ]);
    const { body } = await page.call(`/confirm/close-request?subject=${code}`);
    expect(body).toContain('This closes 1 request for secrets.');
    expect(body).toContain(userId);
    expect(body).toContain('Your &lt;b&gt;password&lt;/b&gt;');
    expect(await page.act('close-request', code)).toContain(`Closed the request ${code}.`);
    expect(await statusOf(code)).toBe('CANCELLED');
    expect(await page.act('close-request', code)).toContain('nothing to close');
  });
});

describe('a receipt', () => {
  it('leads to the request, and the request to its receipts', async () => {
    const { code, userId, receipt } = await asked();
    expect((await ops('timeline', receipt)).stdout).toContain(`; a deposit for the request ${code}\n`);
    const shown = (await ops('timeline', code)).stdout;
    expect(shown).toContain(`request ${code} of user ${userId}, created `);
    expect(shown).toContain('It asks: Your <b>password</b>\n');
    expect(shown).toContain(receipt);
    expect(JSON.parse((await ops('timeline', code, '--json')).stdout)).toMatchObject({
      subject: { kind: 'request', id: code, user_id: userId, status: 'OPEN' },
      deposits: [{ receipt }],
    });
    const { body } = await page.call(`/pastes/${receipt}`);
    expect(body).toContain(`/confirm/close-request?subject=${code}`);
    const none = 'x'.repeat(22);
    expect((await ops('timeline', none)).stderr).toBe(`ops: there is no request ${none}\n`);
  });
});

describe('the sweep tombstones', () => {
  const DAY = 86_400;
  const sweep = () =>
    createTombstones({
      db: world.janitorDb,
      jobRetentionSeconds: 30 * DAY,
      tombstoneRetentionSeconds: 30 * DAY,
      transitionRetentionSeconds: 90 * DAY,
    });

  it('removes requests 30 days after their expiry, once their deposits are removed', async () => {
    const old = { expiresInSeconds: -31 * DAY };
    const removed = await asked({ ...old, deletedSecondsAgo: 31 * DAY });
    const kept = [await asked(old), await asked({ ...old, deletedSecondsAgo: 29 * DAY }), await asked()];
    expect(await sweep().runOnce(running())).toMatchObject({ removed: 1, requests: 1 });
    expect(await statusOf(removed.code)).toBeUndefined();
    for (const { code } of kept) expect(await statusOf(code)).toBe('OPEN');
    const deposits = await world.db.selectFrom('deposits').select('short_code').execute();
    expect(deposits.map(({ short_code }) => short_code).toSorted()).toEqual(
      kept.map(({ receipt }) => receipt).toSorted(),
    );
  });
});
