import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { placedFiles } from '@pasteflow/domain';
import { useApi } from './support/api.ts';
import {
  compressedPaste,
  deletedPaste,
  failedPaste,
  newPaste,
  processedPaste,
  putCompressed,
  settle,
} from './support/pastes.ts';
import { compressibleContent, rawGet } from './support/raw-get.ts';

const bed = useApi();
const run = promisify(execFile);

interface NewFile {
  readonly name: string;
  readonly content: Buffer;
}

const contentOf = (files: readonly NewFile[]): Buffer => Buffer.concat(files.map(({ content }) => content));
const placed = (files: readonly NewFile[]) =>
  placedFiles(files.map(({ name, content }) => ({ name, size: content.length, syntax: null })));

const few: readonly NewFile[] = [
  { name: 'src/main.ts', content: Buffer.from('one') },
  { name: 'empty', content: Buffer.alloc(0) },
  { name: 'bytes.bin', content: Buffer.from([0, 255, 0x50, 0x4b, 5, 6]) },
];

const store = (files: readonly NewFile[], options = {}, put = processedPaste) =>
  put(bed, contentOf(files), { files: placed(files), ...options });

const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  rawGet(bed.api.url + path, headers, method);

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'archive-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Names of all scripts, of which none is one that Windows or macOS would change. */
const names = [
  'README.md',
  '.gitignore',
  'Makefile',
  'a/b/c/d.txt',
  'a/b/e.txt',
  'ärger/größe.txt',
  '日本語/ファイル.txt',
  'العربية.txt',
  'हिन्दी.md',
  '😀.txt',
  'with blank in it.txt',
  "quote's & % # $ @ ! ~ ` ^ = + , ; {} [] ().txt",
  '-rf',
  'L3-L5.txt',
  `${'x'.repeat(250)}.txt`,
];

/** Unpack an archive at a path into a folder. */
const unpackers: Readonly<Record<string, (zip: string, to: string) => Promise<unknown>>> = {
  'Info-ZIP': (zip, to) =>
    run('unzip', ['-q', zip, '-d', to], { env: { ...process.env, LC_ALL: 'C.UTF-8' } }),
  '7-Zip': (zip, to) =>
    run('7zz', ['x', '-y', `-o${to}`, zip], { env: { ...process.env, LC_ALL: 'C.UTF-8' } }),
  "Python's zipfile": (zip, to) => run('python3', ['-m', 'zipfile', '-e', zip, to]),
};

async function filesIn(root: string): Promise<Readonly<Record<string, string>>> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const found = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const read = found.map(
    async (path) => [path.slice(root.length + 1), (await readFile(path)).toString('hex')] as const,
  );
  return Object.fromEntries(await Promise.all(read));
}

describe('the archive', () => {
  it.each([
    ['a few bytes each', 10, processedPaste],
    ['more than 256 KiB together', 30_000, processedPaste],
    ['more than 256 KiB together, stored compressed', 30_000, compressedPaste],
  ] as const)('of files of %s unpacks with each program', async (about, size, put) => {
    const files = [
      ...names.map((name, index) => ({ name, content: compressibleContent(size + index) })),
      ...few,
    ];
    const { status, body, isCut } = await get(`/${await store(files, {}, put)}/archive`);
    expect({ status, isCut }).toEqual({ status: 200, isCut: false });
    const zip = join(folder, `${about}.zip`);
    await writeFile(zip, body);
    const expected = Object.fromEntries(files.map(({ name, content }) => [name, content.toString('hex')]));
    for (const [program, unpack] of Object.entries(unpackers)) {
      const to = join(folder, `${about} ${program}`);
      const isMissing = await unpack(zip, to).then(
        () => false,
        (error: unknown) => {
          if ((error as { code?: unknown }).code !== 'ENOENT') throw error;
          return true;
        },
      );
      if (!isMissing) expect([program, await filesIn(to)]).toEqual([program, expected]);
    }
  });

  it('has its length, its type and the name of the paste', async () => {
    const code = await store(few);
    await bed.db
      .updateTable('pastes')
      .set({ title: 'My größe.tar' })
      .where('short_code', '=', code)
      .execute();
    const { headers, body } = await get(`/v1/pastes/${code}/archive`);
    expect(headers).toMatchObject({
      'content-type': 'application/zip',
      'content-length': String(body.length),
      'content-disposition': `attachment; filename="My_gr__e.zip"; filename*=UTF-8''My_gr%C3%B6%C3%9Fe.zip`,
      'content-security-policy': "default-src 'none'; sandbox; frame-ancestors 'none'",
      'cache-control': 'private, no-cache, no-transform',
    });
  });

  it('is the same each time, which its tag says', async () => {
    const code = await store(few);
    const [one, other] = [await get(`/${code}/archive`), await get(`/v1/pastes/${code}/archive`)];
    expect(one.body.equals(other.body)).toBe(true);
    const etag = String(one.headers.etag);
    expect(other.headers.etag).toBe(etag);
    const known = await get(`/${code}/archive`, { 'if-none-match': etag });
    expect([known.status, known.body.length]).toEqual([304, 0]);
    const renamed = await store(few.map((file) => ({ ...file, name: `${file.name}x` })));
    expect((await get(`/${renamed}/archive`)).headers.etag).not.toBe(etag);
  });

  it('answers HEAD like GET, without the body and without reading the content', async () => {
    const code = await newPaste(bed.db, contentOf(few), { files: placed(few) });
    await settle(bed.db, code, 's3://pasteflow/none');
    const { status, headers, body } = await get(`/${code}/archive`, {}, 'HEAD');
    expect({ status, body: body.length }).toEqual({ status: 200, body: 0 });
    const { headers: ofGet, body: zip } = await get(`/${await store(few)}/archive`);
    expect(headers['content-length']).toBe(String(zip.length));
    const volatile = { date: '', 'x-request-id': '', ratelimit: '', etag: '', 'content-disposition': '' };
    expect({ ...headers, ...volatile }).toEqual({ ...ofGet, ...volatile });
  });

  it('ignores a range, and takes no encoding', async () => {
    const { status, headers } = await get(`/${await store(few)}/archive`, {
      range: 'bytes=0-1',
      'accept-encoding': 'gzip',
    });
    expect([status, headers['content-encoding'], headers['accept-ranges']]).toEqual([
      200,
      undefined,
      undefined,
    ]);
  });

  it('answers as the content in each other state', async () => {
    const states = {
      409: await processedPaste(bed, 'x'),
      503: await newPaste(bed.db, contentOf(few), { files: placed(few) }),
      404: await failedPaste(bed.db, {
        files: placed([
          { name: 'a', content: Buffer.from('hell') },
          { name: 'b', content: Buffer.from('o') },
        ]),
      }),
      410: await store(few),
      403: await store(few, { burn: true }),
    };
    await deletedPaste(bed.db, states[410]);
    for (const [status, code] of Object.entries(states))
      for (const path of [`/${code}/archive`, `/v1/pastes/${code}/archive`])
        expect([path, (await get(path)).status]).toEqual([path, Number(status)]);
    const problem = JSON.parse((await get(`/${states[409]}/archive`)).body.toString()) as object;
    expect(problem).toMatchObject({
      code: 'not_several_files',
      detail: `This paste is one content without files. Read it with GET /${states[409]}.`,
    });
  });

  it('of an object that is cut off never looks complete', async () => {
    const files = [
      { name: 'a', content: compressibleContent(400_000) },
      { name: 'b', content: compressibleContent(400_000) },
    ];
    const content = contentOf(files);
    const code = await newPaste(bed.db, content, { files: placed(files) });
    await putCompressed(bed.store, code, gzipSync(content).subarray(0, -20_000));
    await settle(bed.db, code, 's3://pasteflow/x', 'gzip');
    expect(await get(`/${code}/archive`)).toMatchObject({ status: 200, isCut: true });
  });
});
