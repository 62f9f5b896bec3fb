import { isTarHeader } from './tar-header.ts';

export type SourceFormat = 'zip' | 'tar.gz' | 'tar' | 'ndjson';

/** Signatures at the start of a zip: of its first file, of the end record of an empty zip, and of a split zip. */
const ZIP_SIGNATURES = new Set([0x04034b50, 0x06054b50, 0x08074b50]);

/** Detects the format from the first bytes. @returns null for a format that cannot be imported */
export function detectFormat(source: Buffer): SourceFormat | null {
  if (source[0] === 0x1f && source[1] === 0x8b) return 'tar.gz';
  if (source.length >= 4 && ZIP_SIGNATURES.has(source.readUInt32LE(0))) return 'zip';
  if (isTarHeader(source)) return 'tar';
  return /^(?:\xef\xbb\xbf)?\s*\{/.test(source.toString('latin1', 0, 1000)) ? 'ndjson' : null;
}
