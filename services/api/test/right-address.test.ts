import { describe, expect, it } from '@jest/globals';
import { useApi } from './support/api.ts';
import { processedPaste } from './support/pastes.ts';
import { browseAs } from './support/sign-in.ts';
import { newUser, signedInWith } from './support/users.ts';

const bed = useApi();
const open = (path: string, headers: Readonly<Record<string, string>> = { accept: 'text/html' }) =>
  fetch(bed.api.url + path, { headers, redirect: 'manual' });

const KEY = '9zXrLq7Qn2mV4tYs8wKcB1dF6hJpR3uGeA5vNxCkTbM';

describe('an address in which a program has written %23 for #', () => {
  it.each([
    'q7Zk2Lm9Xa%23KEY',
    'q7Zk2Lm9Xa%23-KEY',
    '~notes%23L2',
    'q7Zk2Lm9Xa.ts%23L2-L5',
    'requests/q7Zk2Lm9Xaq7Zk2Lm9Xaq7%23KEY',
  ])('is answered with a page that leads to the right one, and no redirect: /%s', async (path) => {
    const sent = path.replace('KEY', KEY);
    const response = await open(`/${sent}`);
    const headers = Object.fromEntries(response.headers);
    expect(response.status).toBe(200);
    expect(JSON.stringify(headers)).not.toContain(KEY);
    expect(headers).toMatchObject({ 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' });
    expect(await response.text()).toContain(`href="/${sent.replace('%23', '#')}"`);
    expect(JSON.stringify(bed.api.logs)).not.toContain(KEY);
  });

  it('is the own link of a request, for who is signed in', async () => {
    const cookie = await signedInWith(bed.db, (await newUser(bed.db)).token);
    const path = '/my/requests/q7Zk2Lm9Xaq7Zk2Lm9Xaq7';
    const response = await browseAs(bed.api, cookie, `${path}%23${KEY}`);
    expect(response.status).toBe(200);
    expect(await response.text()).toContain(`href="${path}#${KEY}"`);
  });

  it('leads to no other page, and is none for programs', async () => {
    for (const path of [
      '/q7Zk2Lm9Xa%23%22%3E%3Cscript%3E',
      '/q7Zk2Lm9Xa%23',
      '/docs%23x',
      '/%2Fevil.example%23x',
      `/q7Zk2Lm9Xa%23${'x'.repeat(201)}`,
      '/requests/q7Zk2Lm9Xa%23x',
      '/requests/q7Zk2Lm9Xaq7Zk2Lm9Xaq7%23%22%3E',
    ])
      expect((await open(path)).status).toBe(404);
    expect((await open('/q7Zk2Lm9Xa%23L2', { accept: '*/*' })).status).toBe(404);
  });

  it('is no part of an extension that has #', async () => {
    const code = await processedPaste(bed, 'class A {}');
    expect(await (await open(`/${code}.c%23`)).text()).toContain('class A {}');
  });
});
