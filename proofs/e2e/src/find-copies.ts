import { brotliDecompressSync, gunzipSync, inflateRawSync, inflateSync, zstdDecompressSync } from 'node:zlib';
import type { Cluster } from './cluster.ts';
import { findTraces } from './find-traces.ts';
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
