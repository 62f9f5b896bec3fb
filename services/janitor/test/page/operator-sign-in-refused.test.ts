import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { openSignInBed, sessionIn, type Answer, type SignInBed } from './sign-in-bed.ts';

let bed: SignInBed;
beforeAll(async () => {
  for (const name of ['warn', 'info'] as const) jest.spyOn(console, name).mockImplementation(() => {}); // the provider's advice
  bed = await openSignInBed();
});
afterAll(() => bed.stop());
afterEach(() => bed.issuer.instead.clear());

async function expectRefused(answer: Answer, reason: string): Promise<void> {
  expect(sessionIn(answer)).toBeUndefined();
  expect(answer.status).toBe(401);
  expect(answer.body).toContain(reason);
}

const NOT_BEGUN_HERE = 'This browser did not begin this sign-in';

describe('the way back from the provider is refused', () => {
  it('without a sign-in of this browser, and with the state of another', async () => {
    const [mine, other] = [await bed.begin(), await bed.begin()];
    const query = await bed.issuer.signIn(other.url, { name: 'anna' });
    const before = bed.issuer.requests.length;
    await expectRefused(await bed.callBack(query, null), NOT_BEGUN_HERE);
    await expectRefused(await bed.callBack(query, mine.cookie), NOT_BEGUN_HERE);
    expect(bed.issuer.requests.length).toBe(before);
    await expectRefused(await bed.callBack({ ...query, state: mine.state }, mine.cookie), 'Sign in again.');
  });

  it('a second time', async () => {
    const begun = await bed.begin();
    const query = await bed.issuer.signIn(begun.url, { name: 'anna' });
    expect(sessionIn(await bed.callBack(query, begun.cookie))).toBeDefined();
    await expectRefused(await bed.callBack(query, begun.cookie), 'was used before');
  });

  it('when the person cancels', async () => {
    const begun = await bed.begin();
    const answer = await bed.callBack(await bed.issuer.signIn(begun.url, { denied: 'yes' }), begun.cookie);
    await expectRefused(answer, 'The sign-in was cancelled');
    expect(answer.body).not.toContain('No</b>');
  });

  const seconds = (fromNow: number) => Math.floor(Date.now() / 1000) + fromNow;
  const bad: Record<string, object> = {
    'with another nonce': { nonce: 'x'.repeat(43) },
    'without a nonce': { nonce: undefined },
    'of another issuer': { iss: 'https://evil.example' },
    'for another client': { aud: 'another' },
    'that has expired': { exp: seconds(-30) },
    'without a subject': { sub: undefined },
  };

  it.each(Object.keys(bad))('with an ID token %s', async (name) => {
    const begun = await bed.begin();
    const token = await bed.issuer.signed(
      { aud: 'operations', nonce: begun.nonce, groups: ['operators'], ...bad[name] },
      { typ: 'JWT' },
    );
    bed.issuer.instead.set('/token', (_req, res) => {
      res
        .setHeader('Content-Type', 'application/json')
        .end(JSON.stringify({ access_token: 'opaque', token_type: 'Bearer', id_token: token }));
    });
    const sessions = await bed.world.db.selectFrom('operator_sessions').selectAll().execute();
    await expectRefused(
      await bed.callBack({ code: 'any', state: begun.state, iss: bed.issuer.url }, begun.cookie),
      'again',
    );
    expect(await bed.world.db.selectFrom('operator_sessions').selectAll().execute()).toEqual(sessions);
  });

  it('while the provider is down, when tokens still work', async () => {
    const begun = await bed.begin();
    bed.issuer.instead.set('/token', (_req, res) => void res.destroy());
    const answer = await bed.callBack({ code: 'any', state: begun.state, iss: bed.issuer.url }, begun.cookie);
    expect([answer.status, sessionIn(answer)]).toEqual([503, undefined]);
    expect((await bed.page.call('/')).status).toBe(200);
  });
});
