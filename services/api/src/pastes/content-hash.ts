import { createHash } from 'node:crypto';

/** `sha256:` and 64 hex digits. */
export function contentHashOf(content: Buffer): string {
  return `sha256:${createHash('sha256').update(content).digest('hex')}`;
}

/** A strong entity tag. */
export function etagOf(contentHash: string): string {
  return `"${contentHash.slice('sha256:'.length)}"`;
}
