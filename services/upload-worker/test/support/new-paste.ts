import { createHash } from 'node:crypto';
import type { NewPaste } from '@pasteflow/postgres';

/** An anonymous paste without options. */
export function newPaste(shortCode: string, content: Buffer = Buffer.from(shortCode)): NewPaste {
  return {
    shortCode,
    content,
    contentHash: `sha256:${createHash('sha256').update(content).digest('hex')}`,
    userId: null,
    visibility: 'unlisted',
    title: null,
    syntax: null,
    expiresInSeconds: null,
    deleteTokenHash: null,
  };
}
