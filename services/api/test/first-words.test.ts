import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { ServerResponse } from 'node:http';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { FaultProxy } from '@pasteflow/dev-stack/testing';
import { useApi, type RunningApi } from './support/api.ts';
import { compressedPaste, expire, failedPaste, processedPaste } from './support/pastes.ts';
import { newUser, signedInWith, type TestUser } from './support/users.ts';

const bed = useApi();
let proxy: FaultProxy;
beforeAll(async () => {
  proxy = await FaultProxy.start(bed.stack.aws.endpoint);
});
let user: TestUser;
beforeEach(async () => {
  user = await newUser(bed.db);
});
afterEach(() => proxy.clear());
afterAll(() => proxy.stop());

const start = (firstWordsWaitMs = 60_000) =>
  bed.start({ firstWordsWaitMs, env: { AWS_ENDPOINT_URL_S3: proxy.url } });

/** The names of the rows, from the top to the bottom. */
async function namesOn(api: RunningApi, query = '', as = user): Promise<readonly string[]> {
  const headers = { accept: 'text/html', cookie: await signedInWith(bed.db, as.token) };
  const answer = await fetch(`${api.url}/my/pastes${query}`, {
    headers: { ...headers, 'sec-fetch-site': 'same-origin' },
  });
  expect(answer.status).toBe(200);
  const markup = await answer.text();
  return [...markup.matchAll(/<p><a[^>]*><bdi>([^<]*)<\/bdi>/g)].map(([, name]) => name ?? '');
}

const reads = () => proxy.matching({ method: 'GET', path: /pastes\// }).length;

/** The events of answers that have more listeners than Node lets pass without a warning. */
const crowded: string[] = [];
const watch = (message: unknown): void => {
  const { response } = message as { readonly response: ServerResponse };
  response.on('newListener', (event: string) => {
    if (response.listenerCount(event) >= response.getMaxListeners()) crowded.push(event);
  });
};
beforeAll(() => subscribe('http.server.request.start', watch));
afterAll(() => void unsubscribe('http.server.request.start', watch));

it('shows the first words of an own paste without a title, which a creation costs no read', async () => {
  const api = await start();
  for (const [path, content] of [
    ['/', 'first words\nof a note'],
    ['/?visibility=private', '<b>mine</b>'],
    ['/?title=named', 'not these'],
    ['/?burn=true', 'never these'],
  ] as const)
    await fetch(api.url + path, { method: 'POST', body: content, headers: user.headers });
  const code = expect.stringMatching(/^\w{10}$/);
  expect(await namesOn(api)).toEqual([code, 'named', '&lt;b&gt;mine&lt;/b&gt;', 'first words of a note']);
  expect(await namesOn(api, '', await newUser(bed.db))).toEqual([]);
  expect(reads()).toBe(0);
});

it('reads what another process has created from S3 once, at most ten for a list, and no secret', async () => {
  const own = { userId: user.id };
  const burned = await processedPaste(bed, 'secret', { ...own, burn: true });
  const sealed = await processedPaste(bed, '{"ct":"secret"}', own);
  await bed.db.updateTable('pastes').set({ encrypted: true }).where('short_code', '=', sealed).execute();
  const failed = await failedPaste(bed.db, own);
  await expire(bed.db, await processedPaste(bed, 'gone', own));
  for (let n = 1; n <= 12; n += 1)
    await (n % 2 === 0 ? processedPaste : compressedPaste)(bed, `note ${n} `.repeat(1000), own);
  const api = await start();
  const beginnings = async () => (await namesOn(api)).map((name) => /^note \d+/.exec(name)?.[0] ?? name);
  const notes = Array.from({ length: 12 }, (_, n) => `note ${12 - n}`);
  expect((await beginnings()).slice(0, 10)).toEqual(notes.slice(0, 10));
  expect([reads(), crowded]).toEqual([10, []]);
  for (let view = 0; view < 2; view += 1)
    expect(await beginnings()).toEqual([...notes, failed, sealed, burned]);
  expect(reads()).toBe(12);
});

it('shows the addresses when S3 does not answer in time, and the words afterwards', async () => {
  const code = await processedPaste(bed, 'words', { userId: user.id });
  proxy.rule({ method: 'GET', path: /pastes\// }, { kind: 'hang' });
  expect(await namesOn(await start(1))).toEqual([code]);
  proxy.clear();
  expect(await namesOn(await start())).toEqual(['words']);
});
