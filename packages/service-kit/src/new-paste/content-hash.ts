import { hash } from 'node:crypto';

/** `sha256:` and 64 hex digits. */
export function contentHashOf(content: Buffer): string {
  return `sha256:${hash('sha256', content)}`; // 3 µs for 2 KB; createHash takes 9 µs
}
