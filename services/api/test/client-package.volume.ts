import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import express from 'express';
import { readClient } from '../src/docs/docs-endpoints.ts';

jest.setTimeout(120_000); // npm takes seconds on a busy machine

const execute = promisify(execFile);
/** Nothing listens there. */
const SERVER = 'http://127.0.0.1:9';
let folder: string;
let packed: URL;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'client-package-'));
  const build = fileURLToPath(new URL('../../../clients/cli/build.ts', import.meta.url));
  await execute(process.execPath, [build, join(folder, 'package')]);
  const { stdout } = await execute('npm', ['pack', '--silent', join(folder, 'package')], { cwd: folder });
  packed = pathToFileURL(join(folder, stdout.trim()));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function withServer<T>(file: URL, use: (url: string) => Promise<T>): Promise<T> {
  const app = express()
    .disable('etag')
    .get('/cli.tgz', readClient({ publicUrl: () => SERVER }, file).handle);
  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    return await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}/cli.tgz`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

describe('GET /cli.tgz', () => {
  it('is a package that npm installs, that runs, and that knows its server', async () => {
    const authorizations: (string | undefined)[] = [];
    const other = express()
      .use(({ headers }, res) => {
        authorizations.push(headers.authorization);
        res.json({ items: [], next_cursor: null });
      })
      .listen(0, '127.0.0.1');
    await once(other, 'listening');
    const named = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
    const ended = await withServer(packed, async (url) => {
      const offline = ['--no-audit', '--no-fund', '--no-update-notifier'];
      const cache = ['--cache', join(folder, 'cache')];
      await execute('npm', ['install', '-g', ...offline, ...cache, '--prefix', join(folder, 'there'), url]);
      const pasteflow = join(folder, 'there/bin/pasteflow');
      const env = { PATH: process.env.PATH, HOME: folder };
      const withToken = { ...env, PASTEFLOW_TOKEN: 'pf_x' };
      await execute(pasteflow, ['ls', '--server', named], { env: withToken }).catch(() => {});
      return {
        version: (await execute(pasteflow, ['--version'])).stdout,
        error: await execute(pasteflow, ['ls'], { env }).then(
          () => '',
          ({ stderr }: { stderr: string }) => stderr,
        ),
      };
    });
    expect(ended.version).toBe('0.1.0\n');
    expect(ended.error).toContain(SERVER); // without a token
    other.close();
    // PASTEFLOW_TOKEN is for the server of the client, and not for one that is named once.
    expect(authorizations).toEqual([undefined]);
  });

  it('has the SHA-256 as its ETag, and is sent again only when it has changed', async () => {
    await withServer(packed, async (url) => {
      const response = await fetch(url);
      const bytes = Buffer.from(await response.arrayBuffer());
      const etag = `"${createHash('sha256').update(bytes).digest('hex')}"`;
      expect(Object.fromEntries(response.headers)).toMatchObject({
        'content-type': 'application/gzip',
        'cache-control': 'no-cache',
        etag,
      });
      const again = await fetch(url, { headers: { 'If-None-Match': etag } });
      expect([again.status, await again.text()]).toEqual([304, '']);
    });
  });

  it('says how to make the package when the api runs without a build', async () => {
    const endpoint = readClient({ publicUrl: () => SERVER }, pathToFileURL(join(folder, 'no.tgz')));
    await expect(Promise.resolve(endpoint.handle({} as never, {} as never))).rejects.toMatchObject({
      code: 'route_not_found',
      message: expect.stringContaining('npm run build'),
    });
  });
});
