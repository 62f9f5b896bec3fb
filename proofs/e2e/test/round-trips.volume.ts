import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startCluster, type Cluster } from '../src/index.ts';
import {
  asForm,
  asJson,
  asRaw,
  expectReadBack,
  fromShell,
  KIB,
  LIMIT,
  textOf,
  type Send,
} from './support/round-trips.ts';

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster();
});
afterAll(() => cluster.stop());

const texts: readonly [name: string, content: Buffer][] = [
  ['10 MiB', textOf(LIMIT)],
  ['1 byte', textOf(1)],
  ['NUL bytes only', Buffer.alloc(100)],
  ['44 KiB less one byte', textOf(44 * KIB - 1)],
  ['44 KiB', textOf(44 * KIB)],
  ['44 KiB and one byte', textOf(44 * KIB + 1)],
  ['1 MiB', textOf(KIB * KIB)],
];
const everyByte = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
const invalid = Buffer.from([0xff, 0xfe, 0x00, 0xc3, 0x28, 0xed, 0xa0, 0x80, 0xf4, 0x90, 0x80, 0x80]);
const binaries: typeof texts = [
  ['every byte there is', everyByte],
  ['bytes that are no UTF-8', invalid],
];

describe.each<[string, Send, typeof texts]>([
  ['raw bytes', asRaw, [...texts, ...binaries]],
  ['JSON', asJson, texts],
  ['a multipart form', asForm, [...texts, ...binaries]],
  ['the shell', fromShell, [...texts, ...binaries]],
])('a paste sent as %s', (_, send, contents) => {
  it.each(contents)('is read back byte for byte: %s', async (_name, content) => {
    const { status, shortCode } = await send(cluster, content);
    expect(status).toBe(201);
    await expectReadBack(cluster, shortCode, content);
  });

  it('is refused with 413 and inserts no row when it has 10 MiB and one byte', async () => {
    const before = await countPastes();
    expect(await send(cluster, textOf(LIMIT + 1))).toEqual({ status: 413, shortCode: '' });
    expect(await countPastes()).toBe(before);
  });

  it('is refused with 422 and inserts no row when it is empty', async () => {
    const before = await countPastes();
    expect(await send(cluster, Buffer.alloc(0))).toEqual({ status: 422, shortCode: '' });
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
    const { shortCode } = await asRaw(cluster, textOf(bytes));
    const sent = await cluster.until(
      () => messagesFor(shortCode),
      (messages) => messages.length > 0,
    );
    expect(sent).toEqual([{ shortCode, ...(inline && { contentBytes: textOf(bytes).toString('base64') }) }]);
    await expectReadBack(cluster, shortCode, textOf(bytes));
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
