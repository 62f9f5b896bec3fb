import { createHash } from 'node:crypto';

/** `sha256:` and 64 hex digits. */
export function contentHashOf(content: Buffer): string {
  return `sha256:${createHash('sha256').update(content).digest('hex')}`;
}
