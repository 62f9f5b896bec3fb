import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { startScript, styles } from './page.ts';

export interface ServedFile {
  /** The Content-Type. */
  readonly type: string;
  readonly bytes: Buffer;
  /** Strong, with its quotes. */
  readonly etag: string;
}

/**
 * Our own script and styles, the files of swagger-ui-dist that the page needs, and the licences of the
 * bundle.
 */
const files = {
  'start.js': ['text/javascript; charset=utf-8', () => Buffer.from(startScript)],
  'page.css': ['text/css; charset=utf-8', () => Buffer.from(styles)],
  'swagger-ui-bundle.js': ['text/javascript; charset=utf-8', packaged],
  'swagger-ui-bundle.js.LICENSE.txt': ['text/plain; charset=utf-8', packaged],
  'swagger-ui.css': ['text/css; charset=utf-8', packaged],
} as const satisfies Record<
  string,
  readonly [type: string, read: (name: string) => Buffer | Promise<Buffer>]
>;

export type FileName = keyof typeof files;

export const fileNames = Object.keys(files) as FileName[];

export function isFileName(name: string): name is FileName {
  return Object.hasOwn(files, name);
}

const loaded = new Map<FileName, ServedFile>();

/** A file, read at its first request and then kept. */
export async function fileNamed(name: FileName): Promise<ServedFile> {
  const file = loaded.get(name) ?? (await load(name));
  loaded.set(name, file);
  return file;
}

async function load(name: FileName): Promise<ServedFile> {
  const [type, read] = files[name];
  return asFile(type, await read(name));
}

export function asFile(type: string, bytes: Buffer): ServedFile {
  return { type, bytes, etag: `"${createHash('sha256').update(bytes).digest('hex')}"` };
}

function packaged(name: string): Promise<Buffer> {
  return readFile(new URL(name, import.meta.resolve('swagger-ui-dist/package.json')));
}
