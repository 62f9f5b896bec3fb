import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Paste } from '@pasteflow/client';
import { curl, startCluster, type Cluster } from '../src/index.ts';

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster();
});
afterAll(() => cluster.stop());

const KIB = 1024;
const LIMIT = 10 * KIB * KIB;

/** Text of exactly `bytes` bytes, with NUL and with characters of every length. */
function textOf(bytes: number): Buffer {
  const pattern = Buffer.from('zéro € 🦊\0\r\n');
  const whole = Math.floor(bytes / pattern.length);
  return Buffer.concat([
    ...Array<Buffer>(whole).fill(pattern),
    Buffer.alloc(bytes - whole * pattern.length, 'x'),
  ]);
}

const texts: readonly [name: string, content: Buffer][] = [
  ['1 byte', textOf(1)],
  ['NUL bytes only', Buffer.alloc(100)],
  ['44 KiB less one byte', textOf(44 * KIB - 1)],
  ['44 KiB', textOf(44 * KIB)],
  ['44 KiB and one byte', textOf(44 * KIB + 1)],
  ['1 MiB', textOf(KIB * KIB)],
  ['10 MiB', textOf(LIMIT)],
];
const everyByte = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
const invalid = Buffer.from([0xff, 0xfe, 0x00, 0xc3, 0x28, 0xed, 0xa0, 0x80, 0xf4, 0x90, 0x80, 0x80]);
const binaries: typeof texts = [
  ['every byte there is', everyByte],
  ['bytes that are no UTF-8', invalid],
];

type Send = (content: Buffer) => Promise<{ status: number; shortCode: string }>;

async function outcome(response: Response): Promise<{ status: number; shortCode: string }> {
  const { short_code: shortCode = '' } = (await response.json()) as Partial<Paste>;
  return { status: response.status, shortCode };
}

const asRaw: Send = async (content) => await outcome(await cluster.http().post(content));

const asJson: Send = async (content) => {
  const body = JSON.stringify({ content: content.toString() });
  return await outcome(await cluster.http().post(body, { headers: { 'content-type': 'application/json' } }));
};

const asForm: Send = async (content) => {
  const body = new FormData();
  body.set('content', new Blob([new Uint8Array(content)]), 'paste.bin');
  return await outcome(await cluster.http().request('/v1/pastes', { method: 'POST', body }));
};

const fromShell: Send = async (content) => {
  const { url } = cluster.http();
  const { stdout } = await curl(['--data-binary', '@-', '--write-out', '%{http_code}', url], content);
  const [, pasteUrl = '', status] = stdout.toString().match(/^(?:(http\S+)\n|[^]*?)(\d{3})$/) ?? [];
  return { status: Number(status), shortCode: pasteUrl.replace(`${url}/`, '') };
};

async function expectReadBack(shortCode: string, content: Buffer): Promise<void> {
  const sha256 = createHash('sha256').update(content).digest('hex');
  expect(await cluster.client().pastes.get(shortCode)).toMatchObject({
    content_hash: `sha256:${sha256}`,
    size_bytes: content.length,
  });
  await cluster.untilStatus(shortCode, 'PROCESSED');
  const { status, headers, body } = await cluster.http().read(shortCode, { 'accept-encoding': 'identity' });
  expect(status).toBe(200);
  expect(headers.get('etag')).toBe(`"${sha256}"`);
  expect(headers.get('content-length')).toBe(String(content.length));
  expect(createHash('sha256').update(body).digest('hex')).toBe(sha256);
  expect(body.equals(content)).toBe(true);
  const compressed = await cluster.http().read(shortCode, { 'accept-encoding': 'gzip' });
  expect(compressed.body.equals(content)).toBe(true);
}

describe.each([
  ['raw bytes', asRaw, [...texts, ...binaries]],
  ['JSON', asJson, texts],
  ['a multipart form', asForm, [...texts, ...binaries]],
  ['the shell', fromShell, [...texts, ...binaries]],
])('a paste sent as %s', (_, send, contents) => {
  it.each(contents)('is read back byte for byte: %s', async (_name, content) => {
    const { status, shortCode } = await send(content);
    expect(status).toBe(201);
    await expectReadBack(shortCode, content);
  });

  it('is refused with 413 and inserts no row when it has 10 MiB and one byte', async () => {
    const before = await countPastes();
    expect(await send(textOf(LIMIT + 1))).toEqual({ status: 413, shortCode: '' });
    expect(await countPastes()).toBe(before);
  });

  it('is refused with 422 and inserts no row when it is empty', async () => {
    const before = await countPastes();
    expect(await send(Buffer.alloc(0))).toEqual({ status: 422, shortCode: '' });
    expect(await countPastes()).toBe(before);
  });
});

async function countPastes(): Promise<number> {
  const [row] = await cluster.rows.query<{ count: number }>('SELECT count(*)::int FROM pastes');
  return row?.count ?? NaN;
}

describe('a message', () => {
  it.each([
    ['has 44 KiB of content inline', 44 * KIB, true],
    ['has no content above 44 KiB', 44 * KIB + 1, false],
  ])('%s', async (_, bytes, inline) => {
    const { shortCode } = await asRaw(textOf(bytes));
    const sent = await cluster.until(
      () => messagesFor(shortCode),
      (messages) => messages.length > 0,
    );
    expect(sent).toEqual([{ shortCode, ...(inline && { contentBytes: textOf(bytes).toString('base64') }) }]);
    await expectReadBack(shortCode, textOf(bytes));
  });
});

interface Batch {
  readonly Entries: readonly { readonly MessageBody: string }[];
}

/** The messages that the services have sent to SQS for one paste. */
function messagesFor(shortCode: string): { shortCode: string }[] {
  return cluster.sqs
    .matching({ target: 'SendMessageBatch' })
    .flatMap(({ body }) => (JSON.parse(body?.toString() ?? '{"Entries":[]}') as Batch).Entries)
    .map(({ MessageBody }) => JSON.parse(MessageBody) as { shortCode: string })
    .filter((message) => message.shortCode === shortCode);
}

it('leaves no open work and no other objects than those of the pastes', async () => {
  await cluster.expectQuiet();
});
