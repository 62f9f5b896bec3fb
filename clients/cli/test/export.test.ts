import { execFileSync } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { json, useBed, type SeenRequest } from './support/bed.ts';
import { asset, env, ID, jobWith, queued, route } from './support/jobs.ts';

const bed = useBed();

describe('pasteflow export', () => {
  const bytes = Buffer.from(Array.from({ length: 100_000 }, (_, n) => n % 253));
  const etags: string[] = [];

  /** @param cuts after how many bytes each request but the last is cut */
  function serve(
    cuts: readonly number[],
    fields: object = {},
    etagOf: (n: number) => string = () => '"a"',
  ): void {
    let n = 0;
    etags.length = 0;
    route(bed, {
      'POST /v1/jobs': queued,
      [`GET /v1/jobs/${ID}`]: json(200, jobWith({ job_type: 'export', ...fields })),
      [`GET /v1/jobs/${ID}/assets`]: (request, res) =>
        json(200, { assets: [asset(`${bed.url}/archive?signature=${n}`, bytes.length)], next_cursor: null })(
          request,
          res,
        ),
      'GET /archive': ({ headers }: SeenRequest, res) => {
        const from = Number(/^bytes=(\d+)-$/.exec(headers.range ?? '')?.[1] ?? 0);
        etags.push(String(headers['if-range']));
        const cut = cuts[n] ?? Infinity;
        const rest = bytes.subarray(from);
        res.writeHead(from > 0 ? 206 : 200, {
          etag: etagOf(n),
          'content-length': String(rest.length),
          ...(from > 0 && { 'content-range': `bytes ${from}-${bytes.length - 1}/${bytes.length}` }),
        });
        n += 1;
        if (cut >= rest.length) res.end(rest);
        else res.write(rest.subarray(0, cut), () => setTimeout(() => res.socket?.destroy(), 20));
      },
    });
  }

  const path = () => join(bed.home, 'all.zip');
  const run = (more: string[] = []) => bed.run(['export', '-o', path(), ...more], { env });

  it('continues a download that broke off, with a new URL, and prints the name of the file', async () => {
    serve([40_000, 30_000]);
    expect(await run()).toEqual({ code: 0, stdout: `${path()}\n`, stderr: '' });
    expect((await readFile(path())).equals(bytes)).toBe(true);
    expect(etags).toEqual(['undefined', '"a"', '"a"']);
    const urls = bed.requests.filter(({ path: of }) => of.startsWith('/archive')).map(({ path: of }) => of);
    expect(new Set(urls).size).toBe(3);
    expect(
      bed.requests.filter(({ path: of, headers }) => of.startsWith('/archive') && headers.authorization),
    ).toEqual([]);
  });

  it('makes no file of two different archives', async () => {
    serve([40_000], {}, (n) => `"${n}"`);
    const { code, stderr } = await run();
    expect([code, stderr]).toEqual([
      1,
      'pasteflow: The file has changed during the download. Download it again.\n',
    ]);
    expect(await readdir(bed.home)).toEqual([]);
  });

  it('writes the archive to stdout with -o -, and not to a terminal', async () => {
    serve([]);
    const { code, stdout } = await bed.run(['export', '-o', '-'], { env });
    expect([code, stdout.length > 0]).toEqual([0, true]);
    const refused = await bed.run(['export', '-o', '-'], { env, tty: ['stdout'] });
    expect([refused.code, refused.stdout]).toEqual([2, '']);
  });

  it('fetches the archive of an export that was started before', async () => {
    serve([]);
    expect((await run(['--job', ID])).code).toBe(0);
    expect((await readFile(path())).equals(bytes)).toBe(true);
    expect(bed.requests.filter(({ method }) => method === 'POST')).toEqual([]);
  });

  it('names the file after the format of the job, and never after one that a hostile server invents', async () => {
    const before = process.cwd();
    process.chdir(bed.home);
    try {
      for (const [format, name] of [
        ['ndjson', `pasteflow-export-${ID}.ndjson`],
        ['../../evil', `pasteflow-export-${ID}.zip`],
      ] as const) {
        serve([], { parameters: { format } });
        expect((await bed.run(['export', '--job', ID], { env })).stdout).toBe(`${name}\n`);
        expect((await readFile(name)).equals(bytes)).toBe(true);
      }
    } finally {
      process.chdir(before);
    }
  });

  describe('of several archives', () => {
    const parts = ['first', 'second', 'third'].map((text) => Buffer.from(text));
    function serveSeveral(format: string): void {
      const assets = parts.map((part, n) => ({
        ...asset(`${bed.url}/archive/${n}`, part.length),
        id: `${ID.slice(0, -1)}${n}`,
        number: n + 1,
      }));
      route(bed, {
        'POST /v1/jobs': queued,
        [`GET /v1/jobs/${ID}`]: json(200, jobWith({ job_type: 'export', parameters: { format } })),
        [`GET /v1/jobs/${ID}/assets`]: json(200, { assets: assets.toReversed(), next_cursor: null }),
        ...Object.fromEntries(
          parts.map((part, n) => [
            `GET /archive/${n}`,
            (_request: SeenRequest, res: ServerResponse) => void res.end(part),
          ]),
        ),
      });
    }

    it('writes each into a file of its own, in their order', async () => {
      serveSeveral('tar.gz');
      const paths = ['', '-2', '-3'].map((number) => join(bed.home, `all${number}.tar.gz`));
      const ended = await bed.run(['export', '-f', 'tar.gz', '-o', paths[0]!], { env });
      expect(ended).toMatchObject({ code: 0, stdout: paths.map((each) => `${each}\n`).join('') });
      expect(await Promise.all(paths.map((each) => readFile(each)))).toEqual(parts);
    });

    it('writes NDJSON to stdout one after the other, and refuses that for a zip', async () => {
      serveSeveral('ndjson');
      const ended = await bed.run(['export', '-f', 'ndjson', '-o', '-'], { env });
      expect(ended).toMatchObject({ code: 0, stdout: parts.join('') });
      serveSeveral('zip');
      const refused = await bed.run(['export', '-o', '-'], { env });
      expect([refused.code, refused.stdout]).toEqual([2, '']);
      expect(refused.stderr).toContain(`pasteflow export --job ${ID} -o FILE`);
    });
  });

  it('says why an export that was made has no archive', async () => {
    route(bed, {
      [`GET /v1/jobs/${ID}`]: json(200, jobWith({ job_type: 'export' })),
      [`GET /v1/jobs/${ID}/assets`]: json(200, { assets: [], next_cursor: null }),
    });
    const { code, stderr } = await run(['--job', ID]);
    expect([code, stderr]).toEqual([1, expect.stringContaining('three newest exports')]);
  });

  it('writes to a named pipe', async () => {
    serve([]);
    const pipe = join(bed.home, 'pipe');
    execFileSync('mkfifo', [pipe]);
    const [ended, read] = await Promise.all([bed.run(['export', '-o', pipe], { env }), readFile(pipe)]);
    expect(ended.code).toBe(0);
    expect(read.equals(bytes)).toBe(true);
  });

  it('refuses a job that is no export with 2', async () => {
    serve([], { job_type: 'import' });
    const { code, stderr } = await run(['--job', ID]);
    expect([code, stderr]).toEqual([2, expect.stringContaining('is an import')]);
    expect(await readdir(bed.home)).toEqual([]);
  });

  it('starts no job whose archive could not be written', async () => {
    for (const bad of [bed.home, join(bed.home, 'missing', 'all.zip')])
      expect((await bed.run(['export', '-o', bad], { env })).code).toBe(1);
    expect(bed.requests).toEqual([]);
  });

  it('refuses an unknown format with 2', async () => {
    expect((await run(['--format', 'rar'])).code).toBe(2);
    expect(bed.requests).toEqual([]);
  });
});
