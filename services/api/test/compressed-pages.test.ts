import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from '@jest/globals';
import express from 'express';
import { beginCompressedStream, gzipped } from '../src/http/answers/compress.ts';
import { useApi } from './support/api.ts';
import { ownForm } from './support/http.ts';
import { processedPaste } from './support/pastes.ts';
import { rawGet } from './support/raw-get.ts';
import { BROWSER } from './support/sign-in.ts';
import { newUser, signedInWith } from './support/users.ts';

const bed = useApi();

const GZIP = { ...BROWSER, 'accept-encoding': 'gzip, br' };
const ask = (path: string, headers: Readonly<Record<string, string>> = GZIP, method = 'GET') =>
  rawGet(bed.api.url + path, headers, method);

/** What differs between two pages of the same thing. */
const withoutKeys = (body: Buffer): string =>
  body.toString().replaceAll(/name="form_key" value="[^"]+"/g, '');

let code: string;
let long: string;
beforeAll(async () => {
  code = await processedPaste(bed, 'a line of text\n'.repeat(1000));
  long = await processedPaste(bed, 'a line of text\n'.repeat(100_000)); // streamed
});

describe('pages and text', () => {
  it.each(['/', '/:code', '/:long', '/:code/timeline', '/docs', '/docs/swagger-ui.css', '/openapi.json'])(
    'are compressed for who accepts that: %s',
    async (template) => {
      const path = template.replace(':code', code).replace(':long', long);
      const [packed, plain] = [await ask(path), await ask(path, BROWSER)];
      expect([packed.status, packed.headers['content-encoding']]).toEqual([200, 'gzip']);
      expect(plain.headers['content-encoding']).toBeUndefined();
      for (const { headers } of [packed, plain]) expect(headers.vary).toMatch(/\bAccept-Encoding\b/);
      expect(withoutKeys(gunzipSync(packed.body))).toBe(withoutKeys(plain.body));
      expect(packed.body.length).toBeLessThan(plain.body.length / 2);
      const head = await ask(path, GZIP, 'HEAD');
      expect([head.headers['content-encoding'], head.headers.etag]).toEqual(['gzip', packed.headers.etag]);
    },
  );

  it('have an entity tag for each form, by which both are revalidated', async () => {
    for (const path of [`/${code}`, `/${long}`, '/docs/start.js', '/openapi.json']) {
      const tags = [];
      for (const headers of [GZIP, BROWSER]) tags.push((await ask(path, headers)).headers.etag!);
      expect(tags[0]).toBe(tags[1]!.replace(/"$/, '-gzip"'));
      for (const tag of tags) {
        const known = await ask(path, { ...GZIP, 'if-none-match': tag });
        expect([path, known.status, known.headers.etag]).toEqual([path, 304, tag]);
        expect(known.headers.vary).toMatch(/\bAccept-Encoding\b/);
      }
    }
  });

  it('are not compressed where they show a secret', async () => {
    const user = await newUser(bed.db);
    const cookie = await signedInWith(bed.db, user.token);
    const headers = { ...GZIP, cookie, 'sec-fetch-site': 'same-origin' };
    const made = await fetch(`${bed.api.url}/my/tokens`, {
      ...ownForm(bed.api.url, { name: 'x', scope: 'read', expires_in: '604800' }),
      headers: { ...headers, origin: bed.api.url },
    });
    expect([made.status, made.headers.get('content-encoding')]).toEqual([200, null]);
    const job = await fetch(`${bed.api.url}/my/jobs/export`, {
      ...ownForm(bed.api.url, { format: 'zip' }),
      headers: { ...headers, origin: bed.api.url },
      redirect: 'manual',
    });
    const page = await ask(job.headers.get('location')!, headers);
    expect([page.status, page.headers['content-encoding']]).toEqual([200, undefined]);
    // The key of the form: the token that it makes follows from it.
    expect((await ask('/my/tokens?name=x', headers)).headers['content-encoding']).toBeUndefined();
    expect((await ask('/my/pastes', headers)).headers['content-encoding']).toBe('gzip');
  });

  it('reach their reader chunk by chunk', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const stream = gzipped(
      (async function* () {
        yield Buffer.from('the first chunk');
        await promise;
      })(),
    );
    const bytes: Buffer[] = [];
    const first = (): string => gunzipSync(Buffer.concat(bytes), { finishFlush: 2 }).toString();
    do bytes.push((await stream.next()).value as Buffer);
    while (first() === '');
    expect(first()).toBe('the first chunk');
    resolve();
    await stream.return(undefined);
  });

  it('are sent as they are while 64 are compressed, also when all begin at once', async () => {
    const begun: boolean[] = [];
    const { promise, resolve } = Promise.withResolvers<void>();
    const all = Promise.withResolvers<void>();
    const server = express()
      .get('/', async (_req, res) => {
        begun.push(beginCompressedStream(res, '"x"') !== null);
        if (begun.length === 70) all.resolve();
        await promise; // as for S3
        res.end();
      })
      .listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const headers = { 'accept-encoding': 'gzip' };
    const answers = Array.from({ length: 70 }, async () => await rawGet(url, headers));
    await all.promise;
    expect(begun.filter((isCompressed) => isCompressed)).toHaveLength(64);
    expect((await ask(`/${long}`)).headers['content-encoding']).toBeUndefined();
    resolve();
    await Promise.all(answers);
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
    expect((await ask(`/${long}`)).headers['content-encoding']).toBe('gzip');
  });
});
