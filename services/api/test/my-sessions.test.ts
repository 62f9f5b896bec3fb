import { describe, expect, it } from '@jest/globals';
import { useApi } from './support/api.ts';
import { browseAs } from './support/sign-in.ts';
import { newUser, signedInWith } from './support/users.ts';

const bed = useApi();

const browse = (path: string, { as, ...init }: RequestInit & { as: string }) =>
  browseAs(bed.api, as, path, init);

describe('/my/sessions', () => {
  const rowsOf = async (as: string) => {
    const markup = await (await browse('/my/sessions', { as })).text();
    return [
      ...markup.matchAll(/<tr><td class="title">(.*?)<\/td>.*?(value="([^"]+)"|<strong>This browser)/g),
    ];
  };
  const end = (session: string, as: string, headers: Record<string, string> = { origin: bed.api.url }) =>
    browse('/my/sessions/end', { method: 'POST', headers, as, body: new URLSearchParams({ session }) });
  const statusOf = async (as: string) => (await browse('/my/pastes', { as })).status;
  /** A user who is signed in in this many browsers. */
  const browsers = async (count: number) => {
    const { token } = await newUser(bed.db);
    return await Promise.all(Array.from({ length: count }, () => signedInWith(bed.db, token)));
  };

  it('lists the sessions of the user with the token of each, and marks that of this browser', async () => {
    const [one] = await browsers(2);
    const rows = await rowsOf(one!);
    expect(rows.map(([, way]) => way)).toEqual(Array(2).fill('with the token <bdi>of a test</bdi>'));
    expect(rows.filter(([, , mark]) => mark === '<strong>This browser')).toHaveLength(1);
  });

  it('ends a session at once', async () => {
    const [mine, other] = await browsers(2);
    const [, , , id = ''] = (await rowsOf(mine!)).find(([, , , value]) => value !== undefined)!;
    const answer = await end(id, mine!);
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/my/sessions']);
    expect([await statusOf(mine!), await statusOf(other!)]).toEqual([200, 401]);
  });

  it('ends all others', async () => {
    const [mine, ...others] = await browsers(3);
    const stranger = await signedInWith(bed.db, (await newUser(bed.db)).token);
    await end('others', mine!);
    expect(await Promise.all([mine!, stranger, ...others].map(statusOf))).toEqual([200, 200, 401, 401]);
  });

  it('ends neither another user’s session nor anything for a page of another site', async () => {
    const [mine, ofAnother] = [(await browsers(1))[0]!, await browsers(2)];
    const [, , , id = ''] = (await rowsOf(ofAnother[0]!)).find(([, , , value]) => value !== undefined)!;
    expect((await end(id, mine)).status).toBe(303);
    expect((await end('others', ofAnother[0]!, { origin: 'https://evil.example' })).status).toBe(403);
    expect(await Promise.all(ofAnother.map(statusOf))).toEqual([200, 200]);
    expect((await end('1 OR true', mine)).status).toBe(422);
  });
});
