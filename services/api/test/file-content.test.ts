import { beforeAll, describe, expect, it } from '@jest/globals';
import { placedFiles, type PasteFile } from '@pasteflow/domain';
import { sql } from 'kysely';
import { useApi } from './support/api.ts';
import { limited } from './support/limits.ts';
import { problemOf } from './support/http.ts';
import {
  compressedPaste,
  deletedPaste,
  failedPaste,
  newPaste,
  processedPaste,
  sha256,
} from './support/pastes.ts';
import { compressibleContent, rawGet, type UndecodedAnswer } from './support/raw-get.ts';
import { newUser } from './support/users.ts';

const bed = useApi();

const filesOf = (...named: readonly (readonly [name: string, size: number])[]): readonly PasteFile[] =>
  placedFiles(named.map(([name, size]) => ({ name, size, syntax: null })));

const CONTENT = Buffer.from('0123456789');
const files = filesOf(['src/main.ts', 4], ['empty', 0], ['ä ?#%2F&.md', 6]);
const [first, , last] = files as readonly [PasteFile, PasteFile, PasteFile];
let code = '';

beforeAll(async () => {
  code = await processedPaste(bed, CONTENT, { files });
});

const get = (path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<UndecodedAnswer> =>
  rawGet(bed.api.url + path, headers, method);

const tagOf = (content: Buffer, { offset, size }: PasteFile): string =>
  `"${sha256(content).toString('hex')}-${offset}-${size}"`;

const codeOf = (answer: UndecodedAnswer): unknown =>
  (JSON.parse(answer.body.toString()) as { code: unknown }).code;

describe.each(['/CODE/files/', '/v1/pastes/CODE/files/'])('GET %sNAME', (route) => {
  const read = (name: string, headers: Record<string, string> = {}, method = 'GET', of = code) =>
    get(route.replace('CODE', of) + name, headers, method);

  it('serves exactly the bytes of the file, and nothing that a browser runs', async () => {
    const { status, headers, body } = await read('src/main.ts');
    expect({ status, text: body.toString() }).toEqual({ status: 200, text: '0123' });
    expect(headers).toMatchObject({
      'content-length': '4',
      'content-type': 'text/plain; charset=utf-8',
      'content-security-policy': "default-src 'none'; sandbox; frame-ancestors 'none'",
      'x-content-type-options': 'nosniff',
      'cache-control': 'private, no-cache, no-transform',
      'accept-ranges': 'bytes',
      etag: tagOf(CONTENT, first),
    });
    expect(headers.vary).toBeUndefined();
  });

  it.each(['src%2Fmain.ts', encodeURIComponent(last.name), encodeURIComponent(last.name.normalize('NFD'))])(
    'takes a name in any encoding: %s',
    async (name) => {
      expect((await read(name)).body.toString()).toBe(name.startsWith('src') ? '0123' : '456789');
    },
  );

  it.each(['main.ts', 'SRC/main.ts', 'src', 'src/', 'src//main.ts', 'x'])(
    'answers 404 for a name that no file has: %s',
    async (name) => {
      const answer = await read(name);
      expect([answer.status, codeOf(answer)]).toEqual([404, 'file_not_found']);
    },
  );

  it('answers 404 for a file of a paste without files, and says how to read it', async () => {
    const plain = await processedPaste(bed, CONTENT);
    const answer = await read('x', {}, 'GET', plain);
    expect([answer.status, JSON.parse(answer.body.toString())]).toEqual([
      404,
      expect.objectContaining({
        code: 'file_not_found',
        detail: `This paste is one content without files. Read it with GET /${plain}.`,
      }),
    ]);
  });

  it.each([
    ['bytes=0-0', '4', 'bytes 0-0/6'],
    ['bytes=2-99', '6789', 'bytes 2-5/6'],
    ['bytes=-2', '89', 'bytes 4-5/6'],
    ['bytes=-99', '456789', 'bytes 0-5/6'],
  ])('serves the range %s within the file', async (range, text, contentRange) => {
    const { status, headers, body } = await read(encodeURIComponent(last.name), { range });
    expect({ status, text: body.toString(), range: headers['content-range'] }).toEqual({
      status: 206,
      text,
      range: contentRange,
    });
  });

  it('serves a range only of the file with the tag of If-Range', async () => {
    const range = { range: 'bytes=0-1' };
    expect((await read('src/main.ts', { ...range, 'if-range': tagOf(CONTENT, first) })).status).toBe(206);
    expect((await read('src/main.ts', { ...range, 'if-range': tagOf(CONTENT, last) })).status).toBe(200);
  });

  it('answers 304 and 412 by the tag of the file', async () => {
    const [own, other] = [tagOf(CONTENT, first), tagOf(CONTENT, last)];
    const whole = `"${sha256(CONTENT).toString('hex')}"`;
    for (const [field, tag, status] of [
      ['if-none-match', own, 304],
      ['if-none-match', other, 200],
      ['if-none-match', whole, 200],
      ['if-match', own, 200],
      ['if-match', other, 412],
      ['if-match', whole, 412],
    ] as const)
      expect([field, tag, (await read('src/main.ts', { [field]: tag })).status]).toEqual([
        field,
        tag,
        status,
      ]);
  });

  it('answers 416 for a range behind the end of the file, although the content goes on', async () => {
    const answer = await read('src/main.ts', { range: 'bytes=4-5' });
    expect([answer.status, answer.headers['content-range']]).toEqual([416, 'bytes */4']);
  });

  it('serves an empty file as no bytes, and no range of it', async () => {
    const { status, headers, body } = await read('empty');
    expect({ status, length: headers['content-length'], body: body.length }).toEqual({
      status: 200,
      length: '0',
      body: 0,
    });
    for (const range of ['bytes=0-0', 'bytes=-1', 'bytes=0-']) {
      const refused = await read('empty', { range });
      expect([range, refused.status, refused.headers['content-range']]).toEqual([range, 416, 'bytes */0']);
    }
  });

  it.each(['src/main.ts', 'empty'])('answers HEAD like GET, without the body: %s', async (name) => {
    const { headers: ofGet } = await read(name);
    const { status, headers, body } = await read(name, { range: 'bytes=0-1' }, 'HEAD');
    expect({ status, body: body.length }).toEqual({ status: 200, body: 0 });
    const volatile = { date: '', 'x-request-id': '', ratelimit: '' };
    expect({ ...headers, ...volatile }).toEqual({ ...ofGet, ...volatile });
  });

  it('runs one statement', async () => {
    const before = bed.api.statements.length;
    await read('src/main.ts');
    await read('nope');
    expect(bed.api.statements).toHaveLength(before + 2);
  });

  it('answers as the whole content in each other state, whether the file exists or not', async () => {
    const states = {
      503: await newPaste(bed.db, CONTENT, { files }),
      404: await failedPaste(bed.db, { files: filesOf(['src/main.ts', 3], ['b', 2]) }),
      410: await processedPaste(bed, CONTENT, { files }),
      403: await processedPaste(bed, CONTENT, { files, burn: true }),
    };
    await deletedPaste(bed.db, states[410]);
    for (const [status, of] of Object.entries(states)) {
      expect([status, (await read('src/main.ts', {}, 'GET', of)).status]).toEqual([status, Number(status)]);
      const missing = await read('none', {}, 'GET', of);
      expect([status, missing.status]).toEqual([status, status === '503' ? 404 : Number(status)]);
    }
    const unknown = await read('src/main.ts', {}, 'GET', 'doesNotExist');
    expect([unknown.status, codeOf(unknown)]).toEqual([404, 'paste_not_found']);
  });
});

it('each file of content in any form is its range', async () => {
  for (const size of [4000, 300_000, 1_000_000]) {
    const content = compressibleContent(size);
    const parts = filesOf(['a', 1000], ['none', 0], ['b', size - 1003], ['end', 3]);
    for (const stored of [
      await processedPaste(bed, content, { files: parts }),
      await compressedPaste(bed, content, { files: parts }),
    ])
      for (const file of parts) {
        const { offset, size: bytes, name } = file;
        const { headers, body, isCut } = await get(`/${stored}/files/${name}`, { 'accept-encoding': 'gzip' });
        expect(headers).toMatchObject({ 'content-length': String(bytes), etag: tagOf(content, file) });
        expect(headers['content-encoding']).toBeUndefined();
        expect([name, isCut, body.equals(content.subarray(offset, offset + bytes))]).toEqual([
          name,
          false,
          true,
        ]);
        if (bytes < 3) continue;
        const part = await get(`/${stored}/files/${name}`, { range: 'bytes=1-2' });
        expect(part.body.equals(content.subarray(offset + 1, offset + 3))).toBe(true);
      }
  }
});

it('a character that two files share is in neither of them whole, and in the content', async () => {
  const content = Buffer.from('xäy');
  const split = await processedPaste(bed, content, { files: filesOf(['a', 2], ['b', 2]) });
  expect((await get(`/${split}/files/a`)).body).toEqual(content.subarray(0, 2));
  expect((await get(`/${split}/files/b`)).body).toEqual(content.subarray(2));
  expect((await get(`/${split}`)).body).toEqual(content);
});

it('a slug leads to the files of its paste, and a private paste has none for others', async () => {
  const owner = await newUser(bed.db);
  await processedPaste(bed, CONTENT, { files, userId: owner.id, slug: 'with-files' });
  expect((await get('/~with-files/files/src/main.ts')).body.toString()).toBe('0123');
  expect((await get('/v1/pastes/~with-files/files/src/main.ts')).status).toBe(200);
  const secret = await processedPaste(bed, CONTENT, { files, userId: owner.id, visibility: 'private' });
  for (const path of [`/${secret}/files/src/main.ts`, `/${secret}/archive`]) {
    expect((await get(path)).status).toBe(404);
    const own = await get(path, owner.headers);
    expect([own.status, own.headers['cache-control']]).toEqual([200, 'no-store, no-transform']);
  }
});

it('a guess at a code by its files or its archive counts as any other', async () => {
  await sql`TRUNCATE rate_limits`.execute(bed.db);
  const api = await bed.start({ env: limited({ misses: 3 }) });
  for (const path of ['/n0neOfThem/files/a', '/n0neOfThem/archive', '/v1/pastes/n0neOfThem/files/a'])
    expect((await fetch(api.url + path)).status).toBe(404);
  for (const path of [`/${code}/files/src/main.ts`, `/${code}/archive`, `/${code}`])
    expect((await fetch(api.url + path)).status).toBe(429);
});

it('a file behind much compressed content counts as several requests, and HEAD of it as one', async () => {
  await sql`TRUNCATE rate_limits`.execute(bed.db);
  const api = await bed.start({ env: limited({ requests: 12 }) });
  const content = compressibleContent(1_000_000);
  const parts = filesOf(['a', content.length - 3], ['b', 3]);
  const stored = await compressedPaste(bed, content, { files: parts });
  const left = async (path: string, method = 'GET') => {
    const answer = await fetch(api.url + path, { method });
    await answer.arrayBuffer();
    return /"requests";r=(\d+)/.exec(answer.headers.get('ratelimit') ?? '')?.[1];
  };
  expect(await left(`/${stored}/files/b`, 'HEAD')).toBe('11');
  expect(await left(`/${stored}/files/a`)).toBe('10');
  expect(await left(`/${stored}/files/b`)).toBe('6'); // 1, and 3 for 999,997 bytes
});

it('a script of another site reads files and archives', async () => {
  for (const path of [`/${code}/files/src/main.ts`, `/v1/pastes/${code}/archive`, `/${code}/files/none`]) {
    const answer = await fetch(bed.api.url + path, { headers: { origin: 'https://app.example.org' } });
    await answer.arrayBuffer();
    expect([path, answer.headers.get('access-control-allow-origin')]).toEqual([path, '*']);
  }
});

it('the error of a name that is wrong says where the names are', async () => {
  expect(await problemOf(await fetch(`${bed.api.url}/${code}/files/none`))).toMatchObject({
    detail: `This paste has no file of this name. GET /v1/pastes/${code} lists its files.`,
  });
});
