import { isTarHeader } from './tar-header.ts';

export type SourceFormat = 'zip' | 'tar.gz' | 'tar' | 'ndjson';

/** Of a first file, of the end of a zip without any, and of one that was to be cut into several. */
const ZIP_MARKS = new Set([0x04034b50, 0x06054b50, 0x08074b50]);

/** What the bytes are, by the marks that each format begins with; null: none of what can be imported. */
export function detectFormat(source: Buffer): SourceFormat | null {
  if (source[0] === 0x1f && source[1] === 0x8b) return 'tar.gz';
  if (source.length >= 4 && ZIP_MARKS.has(source.readUInt32LE(0))) return 'zip';
  if (isTarHeader(source)) return 'tar';
  return /^(?:\xef\xbb\xbf)?\s*\{/.test(source.toString('latin1', 0, 1000)) ? 'ndjson' : null;
}
