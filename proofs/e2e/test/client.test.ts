import { execFile } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Fetch, Paste, PasteflowClient } from '@pasteflow/client';
import { startCluster, type Cluster, type User } from '../src/index.ts';

let cluster: Cluster;
let alice: User;
beforeAll(async () => {
  // Two attempts in 100 ms, so that FAILED is reached quickly.
  const env = { UPLOAD_RETRY_DELAYS_MS: '100', WEBHOOK_KEY: randomBytes(32).toString('hex') };
  cluster = await startCluster({ env });
  alice = await cluster.user('alice');
});
afterEach(() => cluster.s3.clear());
afterAll(() => cluster.stop());

const README = new URL('../../../clients/client/README.md', import.meta.url);
const [preamble = '', ...examples] = [
  ...(await readFile(README, 'utf8')).matchAll(/^```ts\n(.*?)^```$/gms),
].map(([, code = '']) => code);

const MIB = 1_048_576;
const content = randomBytes(3000);

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

describe('the client', () => {
  it('waits for an upload in progress, and reads back the sent content', async () => {
    const put = cluster.s3.hold({ method: 'PUT' });
    const creating = cluster.client().pastes.create(content, { wait: true, title: 'Some bytes' });
    await (await put).forward();
    const paste = await creating;
    expect(paste).toMatchObject({ status: 'PROCESSED', title: 'Some bytes', size_bytes: 3000 });
    const read = await cluster.client().pastes.content(paste.short_code);
    expect(content.equals(await read.bytes())).toBe(true);
    expect(read.etag).toBe(`"${paste.content_hash?.replace('sha256:', '')}"`);
  });

  it('waits for content that is not available yet', async () => {
    const put = cluster.s3.hold({ method: 'PUT' });
    const { short_code: code } = await cluster.client().pastes.create(content);
    const held = await put;
    const reading = cluster.client().pastes.content(code);
    const isAskedFor = () =>
      cluster.apis[0]!.log.some((line) => line.status === 503 && line.short_code === code);
    await cluster.until(isAskedFor);
    await held.forward();
    expect(content.equals(await (await reading).bytes())).toBe(true);
  });

  it('rejects with the reason when the upload fails', async () => {
    cluster.s3.rule({ method: 'PUT' }, { kind: 'fail', status: 500 });
    await expect(cluster.client().pastes.create(content, { wait: true })).rejects.toMatchObject({
      name: 'PasteFailedError',
      paste: { status: 'FAILED', failure_class: 'storage_unavailable' },
    });
  });

  it('rejects when the paste is deleted during the wait', async () => {
    const put = cluster.s3.hold({ method: 'PUT' });
    const outcome = alice.pastes.create(content, { wait: true }).catch((error: unknown) => error);
    const held = await put;
    const [paste] = await all(alice.pastes.list());
    await alice.pastes.delete(paste!.short_code);
    expect(await outcome).toMatchObject({ status: 410, code: 'paste_gone' });
    await held.forward();
  });

  it('sends a stream, and reads the content as a stream', async () => {
    const chunks = Array.from({ length: 10 }, () => new Uint8Array(randomBytes(MIB)));
    const { short_code: code } = await alice.pastes.create(ReadableStream.from(chunks), { wait: true });
    const parts: Uint8Array[] = [];
    for await (const part of (await alice.pastes.content(code)).stream) parts.push(part);
    expect(parts.length).toBeGreaterThan(1);
    expect(Buffer.concat(parts).equals(Buffer.concat(chunks))).toBe(true);
  });

  it('continues a download that broke off', async () => {
    const large = randomBytes(5 * MIB);
    const { short_code: code } = await alice.pastes.create(large, { wait: true });
    const asked: (string | null)[] = [];
    const client = cluster.client({ fetch: breakingOff(2 * MIB, (range) => asked.push(range)) });
    expect(large.equals(await (await client.pastes.content(code)).bytes())).toBe(true);
    expect(asked).toHaveLength(3);
    expect(asked[0]).toBeNull();
    expect(asked[2]).toMatch(/^bytes=\d{7}-$/);
  });

  it('creates one paste although the answer to the creation is lost twice', async () => {
    const before = await countOf(alice);
    const client = cluster.client({
      token: alice.token,
      fetch: losingAnswers(2),
      retry: { firstDelayMs: 1 },
    });
    const paste = await client.pastes.create(content);
    expect(await alice.pastes.get(paste.short_code)).toMatchObject({ size_bytes: 3000 });
    expect(await countOf(alice)).toBe(before + 1);
  });

  it('deletes a paste once although the answer is lost', async () => {
    const { short_code: code } = await alice.pastes.create(content);
    const client = cluster.client({
      token: alice.token,
      fetch: losingAnswers(1),
      retry: { firstDelayMs: 1 },
    });
    await client.pastes.delete(code);
    await expect(alice.pastes.get(code)).rejects.toMatchObject({ code: 'paste_gone' });
  });

  it('lists the pastes of a user page by page, and no pastes of other users', async () => {
    const bob = await cluster.user('bob');
    const made: string[] = [];
    for (let n = 0; n < 5; n += 1) made.push((await bob.pastes.create(`paste ${n}`)).short_code);
    const codes = (pastes: readonly Paste[]) => pastes.map(({ short_code }) => short_code);
    expect(codes(await all(bob.pastes.list({ limit: 2 })))).toEqual(made.toReversed());
    const { items, nextCursor } = await bob.pastes.list({ limit: 2 }).page();
    expect(codes(items)).toEqual(made.toReversed().slice(0, 2));
    expect(nextCursor).not.toBeNull();
    await expect(cluster.client().pastes.list().page()).rejects.toMatchObject({ code: 'unauthorized' });
  });

  it('reads the timeline of a paste', async () => {
    const { short_code } = await cluster.client().pastes.create(content, { wait: true });
    const { transitions, executions } = await cluster.client().pastes.timeline(short_code);
    expect(transitions.map(({ to }) => to)).toEqual(['RUNNING', 'SUCCEEDED', 'PROCESSED']);
    expect(executions).toMatchObject([{ attempt: 1, status: 'SUCCEEDED' }]);
  });

  it('reports the invalid field, the rule and the id of the request', async () => {
    await expect(cluster.client().pastes.create('x', { title: 'two\nlines' })).rejects.toMatchObject({
      status: 422,
      code: 'validation_failed',
      errors: [{ path: 'title', message: 'must not have control characters' }],
      requestId: expect.stringMatching(/./),
    });
  });
});

async function countOf({ pastes }: PasteflowClient): Promise<number> {
  return (await all(pastes.list({ limit: 100 }))).length;
}

/** Loses the answers of the first `times` requests, which the server executes. */
function losingAnswers(times: number): Fetch {
  let remaining = times;
  return async (request) => {
    const response = await fetch(request);
    if (remaining === 0) return response;
    remaining -= 1;
    await response.arrayBuffer();
    throw new TypeError('the answer was lost');
  };
}

/** Breaks off each answer after `bytes` bytes. */
function breakingOff(bytes: number, onRequest: (range: string | null) => void): Fetch {
  return async (request) => {
    onRequest(request.headers.get('range'));
    const response = await fetch(request);
    let remaining = bytes;
    const cut = new TransformStream<Uint8Array, Uint8Array>({
      transform: (chunk, controller) => {
        remaining -= chunk.length;
        if (remaining < 0) controller.error(new TypeError('terminated'));
        else controller.enqueue(chunk);
      },
    });
    return new Response(response.body?.pipeThrough(cut), response);
  };
}

it('leaves no violation behind', async () => {
  await cluster.rows.query(`UPDATE pastes SET expires_at = NULL WHERE deletion_status = 'NOT_EXPIRED'`);
  await cluster.expectQuiet();
});

describe('the first walk of docs/http-api.md', () => {
  it('does what its comments say', async () => {
    const guide = await readFile(new URL('../../../docs/http-api.md', import.meta.url), 'utf8');
    const [, walk = ''] = /^```sh\n(.*?)^```$/ms.exec(guide) ?? [];
    const walker = await cluster.user('walker');
    const folder = await mkdtemp(join(tmpdir(), 'pasteflow-walk-'));
    try {
      await Promise.all(['a.py', 'b.md'].map(async (name) => await writeFile(join(folder, name), name)));
      const script = walk
        .replace('http://127.0.0.1:3000', cluster.http().url)
        .replace('pf_…', walker.token)
        .replace('JOB_ID', `$(curl $URL/v1/jobs -H "$AUTH" | grep -o '"id":"[^"]*' | cut -d '"' -f 4)`);
      const known = `uuidgen() { echo ${randomUUID()}; }\ncurl() { command curl -sSf "$@"; }\n`;
      const { stdout } = await promisify(execFile)('bash', ['-ec', known + script], { cwd: folder });
      expect(stdout).toMatch(
        /^one\ntwo\n\{.*"status":"PROCESSED".*"executions".*-two\n\+three\n.*"visibility":"private".*a password\{.*"job_id".*"assets"/s,
      );
      const [, twoFiles] = /^http:\S+\/(\w+)$/m.exec(stdout) ?? [];
      const { files } = await cluster.client().pastes.get(twoFiles!);
      expect(files?.map(({ name }) => name)).toEqual(['a.py', 'b.md']);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

describe('the webhook of docs/http-api.md', () => {
  it('is made by its command', async () => {
    const guide = await readFile(new URL('../../../docs/http-api.md', import.meta.url), 'utf8');
    const [, command = ''] = /^## Webhooks\n[^]*?^```sh\n([^]*?)^```/m.exec(guide) ?? [];
    const { token } = await cluster.user('told');
    const env = {
      URL: cluster.http().url,
      AUTH: `Authorization: Bearer ${token}`,
      JSON: 'Content-Type: application/json',
    };
    const { stdout } = await promisify(execFile)('bash', ['-c', command], {
      env: { ...process.env, ...env },
    });
    expect(JSON.parse(stdout)).toMatchObject({ status: 'on', secret: expect.stringMatching(/^whsec_/) });
  });
});

describe('the examples in the README of the client', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'pasteflow-readme-'));
    await writeFile(join(folder, 'server.log'), 'a line\n'.repeat(100_000));
  });
  afterAll(() => rm(folder, { recursive: true }));

  /** Runs an example as a separate program, in a package that depends on the client. */
  async function run(example: string): Promise<string> {
    const reader = await cluster.user('reader');
    const code = (preamble + example)
      .replace('http://127.0.0.1:3000', cluster.http().url)
      .replaceAll(/'(\w+\.log)'/g, (_, name: string) => `'${join(folder, name)}'`);
    const args = ['--conditions=source', '--input-type=module-typescript', '--eval', code];
    const cwd = fileURLToPath(new URL('..', import.meta.url));
    return await new Promise((resolve, reject) => {
      execFile(
        process.execPath,
        args,
        { cwd, env: { PASTEFLOW_TOKEN: reader.token } },
        (error, stdout, stderr) => {
          if (error === null && stderr === '') resolve(stdout);
          else reject(new Error(stderr || 'the example failed', { cause: error }));
        },
      );
    });
  }

  it.each(
    [
      ['pastes', /^http:\S+ PROCESSED\nhello, world\n$/],
      [
        'several files',
        /^\[\n {2}\{ name: 'src\/main\.py', offset: 0, size: 9, syntax: null \},\n.* offset: 9, size: 8, [^]*\]\n$/,
      ],
      ['large content', /^700000 bytes\n$/],
      ['jobs', /^(\d+ %\n)*completed \{[^]*\}\n(http:\S+\n){3}$/],
      ['events', /^(\w+ → \w+\n)+completed\n$/],
      ['secrets from others', /^http:\S+\/requests\/\w{22} 2\n\[\]\n$/],
      ['webhooks', /^whsec_\S{44}\n$/],
      ['what the service allows', /^Pasteflow 31536000 10485760\n$/],
      ['lists', /^(\w{10} \d+\n)+1 null\n$/],
      ['errors', /^404, request \S+\n$/],
    ].map(([name, output], index) => [name, examples[index], output] as const),
  )('print the documented output: %s', async (_name, example, output) => {
    expect(await run(example ?? '')).toMatch(output!);
  });

  it('are all tested', () => {
    expect(examples).toHaveLength(10);
  });

  it('download the same bytes as they upload', async () => {
    const [sent, copy] = await Promise.all(
      ['server.log', 'copy.log'].map(async (name) => await readFile(join(folder, name))),
    );
    expect(copy!.equals(sent!)).toBe(true);
  });
});
