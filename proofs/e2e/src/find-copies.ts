import { brotliDecompressSync, gunzipSync, inflateRawSync, inflateSync, zstdDecompressSync } from 'node:zlib';
import type { Cluster } from './cluster.ts';
import { QUEUES } from './queues.ts';
import type { Stack } from './stacks.ts';

/**
 * Where a cluster has a copy of a text: every column of every table, every object, every message and every
 * line of a log, also where the bytes are compressed, encoded or in an archive.
 */
export async function findCopies(cluster: Cluster<Stack>, text: string): Promise<string[]> {
  const found = new Set<string>();
  const look = (place: string, value: unknown): void => {
    if (formsOf(value).some((form) => findTraces(text, [form]).length > 0)) found.add(place);
  };
  const tables = await cluster.rows.query<{ name: string }>(
    `SELECT quote_ident(table_schema) || '.' || quote_ident(table_name) AS name FROM information_schema.tables
     WHERE table_type = 'BASE TABLE' AND table_schema NOT IN ('pg_catalog', 'information_schema')`,
  );
  for (const { name } of tables)
    for (const row of await cluster.rows.query(`SELECT * FROM ${name}`))
      for (const [column, value] of Object.entries(row)) look(`${name}.${column}`, value);
  for (const key of await cluster.bucket.keys()) {
    look('a key', key);
    look('an object', await cluster.bucket.read(key));
  }
  for (const queue of QUEUES) for (const body of await cluster.queues.peek(queue)) look(queue, body);
  for (const { name, output } of cluster.services)
    if (findTraces(text, output).length > 0) found.add(`the log of ${name}`);
  return [...found].toSorted();
}

/** The texts that a value has, with those of what it encodes or compresses. */
function formsOf(value: unknown, depth = 3): readonly string[] {
  if (value === null || value === undefined || depth === 0) return [];
  if (Buffer.isBuffer(value))
    return [value.toString(), ...unpacked(value).flatMap((each) => formsOf(each, depth - 1))];
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const encoded = text.match(/[\w+/-]{40,}={0,2}/g) ?? [];
  return [text, ...encoded.flatMap((each) => formsOf(Buffer.from(each, 'base64'), depth - 1))];
}

function unpacked(bytes: Buffer): readonly Buffer[] {
  const streams = [gunzipSync, inflateSync, inflateRawSync, brotliDecompressSync, zstdDecompressSync];
  return [...streams.map((open) => () => open(bytes)), ...zippedIn(bytes)].flatMap((open) => {
    try {
      return [open()];
    } catch {
      return []; // compressed in another way, or not at all
    }
  });
}

/** The entries of a zip, each after its local header. */
function zippedIn(bytes: Buffer): readonly (() => Buffer)[] {
  const entries: (() => Buffer)[] = [];
  for (let at = bytes.indexOf('PK\u0003\u0004'); at !== -1; at = bytes.indexOf('PK\u0003\u0004', at + 4)) {
    const start = at;
    entries.push(() => {
      const data = start + 30 + bytes.readUInt16LE(start + 26) + bytes.readUInt16LE(start + 28);
      return inflateRawSync(bytes.subarray(data));
    });
  }
  return entries;
}

/**
 * The lines that contain a secret: as text, as a JSON string in a JSON string, as hexadecimal digits, as
 * base64 at any of the three alignments, or URL-encoded.
 */
export function findTraces(secret: string, lines: readonly string[]): string[] {
  const needles = needlesOf(secret);
  return lines.filter((line) => {
    const lower = line.toLowerCase();
    return needles.some(({ text, caseMatters }) => (caseMatters ? line : lower).includes(text));
  });
}

interface Needle {
  readonly text: string;
  readonly caseMatters: boolean;
}

function needlesOf(secret: string): Needle[] {
  const bytes = Buffer.from(secret);
  const loose = [secret, encodeURIComponent(secret), bytes.toString('hex')];
  const exact = [0, 1, 2].flatMap((offset) => [
    insideBase64(bytes, offset),
    toBase64Url(insideBase64(bytes, offset)),
  ]);
  return [
    ...loose.map((text) => ({ text: text.toLowerCase(), caseMatters: false })),
    ...exact.map((text) => ({ text, caseMatters: true })),
  ];
}

/**
 * The characters of the base64 form of a longer text that depend on these bytes alone, which begin at this
 * offset modulo 3.
 */
function insideBase64(bytes: Buffer, offset: number): string {
  const whole = Buffer.concat([Buffer.alloc(offset), bytes])
    .toString('base64')
    .replace(/=+$/, '');
  const first = Math.ceil((offset * 8) / 6);
  const last = Math.floor(((offset + bytes.length) * 8) / 6);
  return whole.slice(first, last);
}

function toBase64Url(text: string): string {
  return text.replaceAll('+', '-').replaceAll('/', '_');
}
