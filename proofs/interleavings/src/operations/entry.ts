import { createHash } from 'node:crypto';
import type { ImportEntry } from '@pasteflow/postgres';

/** The first entry of an import, always with the same short code. */
export function entryOf(userId: string): ImportEntry {
  const content = Buffer.from('imported');
  const shortCode = 'imported';
  return {
    position: 0,
    url: `s3://pasteflow/pastes/${shortCode}`,
    storagePath: `pastes/${shortCode}`,
    paste: {
      userId,
      visibility: 'unlisted',
      shortCode,
      content,
      contentHash: `sha256:${createHash('sha256').update(content).digest('hex')}`,
      title: null,
      syntax: null,
      expiresInSeconds: 3600,
      deleteTokenHash: null,
    },
  };
}
