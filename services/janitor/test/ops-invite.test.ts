import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { hashOfSecret } from '@pasteflow/http-kit';
import {
  acceptInvitation,
  createApiToken,
  ensureUser,
  eraseUser,
  findInvitation,
  findUserId,
  isGoodApiToken,
} from '@pasteflow/postgres';
import { runOpsCommand } from '../src/operations/commands/run-ops-command.ts';
import { createWorld, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.stop());
beforeEach(() => world.reset());

const PUBLIC_URL = 'https://paste.example.org/p';
const ops = (...args: string[]) => runOpsCommand(args, { ...world.env, PUBLIC_URL });

/** The secret in the link that is shown. */
const secretIn = (shown: string) =>
  /https:\/\/paste\.example\.org\/p\/invitation\/([\w-]{43})\b/.exec(shown)?.[1];

const found = async (shown: string) => await findInvitation(world.db, hashOfSecret(secretIn(shown) ?? ''));

const recorded = () =>
  world.db.selectFrom('operator_actions').select(['action', 'subject', 'outcome']).orderBy('id').execute();

describe('ops invite', () => {
  it('makes the user and a link for 7 days, and records the id of the user alone', async () => {
    const { code, stdout } = await ops('invite', 'anna');
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(/^Invited anna\. .* The link works once, until \S+, .*:\nhttps:\S+\n$/),
    ]);
    const userId = await findUserId(world.db, 'anna');
    expect(await found(stdout)).toEqual({ userId, userName: 'anna', isOpen: true });
    const row = await world.db.selectFrom('invitations').selectAll().executeTakeFirstOrThrow();
    expect((+row.expires_at - +row.created_at) / 86_400_000).toBe(7);
    const records = await recorded();
    expect(records).toEqual([
      {
        action: 'invite',
        subject: userId,
        outcome: expect.stringMatching(/^Invited user \S+, until \S+\. /),
      },
    ]);
    for (const secret of ['anna', secretIn(stdout)]) expect(JSON.stringify(records)).not.toContain(secret);
  });

  it('ends the link before, and the session that one has begun', async () => {
    const first = secretIn((await ops('invite', 'ben')).stdout) ?? '';
    const sessionHash = Buffer.alloc(32, 'b');
    await acceptInvitation(world.db, { secretHash: hashOfSecret(first), sessionHash, lastsSeconds: 60 });
    const second = await ops('invite', 'ben', '--json');
    expect(JSON.parse(second.stdout)).toEqual({
      user_id: await findUserId(world.db, 'ben'),
      user: 'ben',
      link: expect.stringContaining(secretIn(second.stdout) ?? ''),
      expires_at: expect.any(String),
      ended: 1,
    });
    const third = await ops('invite', 'ben');
    expect([(await found(second.stdout))?.isOpen, (await found(third.stdout))?.isOpen]).toEqual([
      false,
      true,
    ]);
  });

  it('says that tokens stay, and ends them with --end-tokens', async () => {
    const made = { userName: 'dora', name: 'x', tokenHash: Buffer.alloc(32, 'd'), expiresInSeconds: null };
    await createApiToken(world.db, made);
    const isGood = () => isGoodApiToken(world.db, made);
    const kept = await ops('invite', 'dora');
    expect(kept.stdout).toMatch(
      /\nTokens of the user stay\. .* --end-tokens, .* npm run token -- --list NAME /,
    );
    expect(await isGood()).toBe(true);
    const { stdout } = await ops('invite', 'dora', '--end-tokens');
    expect(stdout).toContain('and all tokens and sessions of the user: 1.');
    expect(stdout).not.toContain('stay');
    expect([await isGood(), (await found(stdout))?.isOpen]).toEqual([false, true]);
    expect((await recorded()).at(-1)?.outcome).toContain('all tokens and sessions of the user: 1.');
  });

  it('says what to set where the address of the service is not known, and makes no user', async () => {
    const { code, stderr } = await runOpsCommand(['invite', 'cora'], world.env);
    expect([code, stderr]).toEqual([
      1,
      'ops: PUBLIC_URL is not set; set it to the URL of the api in a browser, as for the api\n',
    ]);
    expect(await findUserId(world.db, 'cora')).toBeNull();
  });

  it.each([
    ['has what nobody sees', 'an\u200bna'],
    ['is written in the other direction', 'anna\u202e'],
    ['has two lines', 'an\nna'],
    ['is too long', 'a'.repeat(1001)],
  ])('makes no user whose name %s', async (_what, name) => {
    const { code, stderr } = await ops('invite', name);
    expect([code, stderr]).toEqual([1, expect.stringContaining('give a new user a name of one line')]);
    expect(await findUserId(world.db, name)).toBeNull();
  });

  it('is for a user whom an earlier release has given such a name', async () => {
    await ensureUser(world.db, 'an\u200bna');
    expect((await ops('invite', 'an\u200bna')).code).toBe(0);
  });

  it('is for no user who is erased', async () => {
    await ops('invite', 'dora');
    const userId = (await findUserId(world.db, 'dora')) ?? '';
    await eraseUser(world.db, userId);
    const { code, stderr } = await ops('invite', `erased ${userId}`);
    expect([code, stderr]).toEqual([1, expect.stringContaining('is erased; choose another name')]);
  });
});
