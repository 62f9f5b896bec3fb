import { createHash, randomBytes } from 'node:crypto';
import type { NewPaste } from '../pastes/insert-pastes.ts';

/** An anonymous paste with a new short code. */
export function pasteToCreate(options: Partial<NewPaste> = {}): NewPaste {
  const { content = randomBytes(20) } = options;
  return {
    shortCode: randomBytes(5).toString('hex'),
    content,
    contentHash: `sha256:${createHash('sha256').update(content).digest('hex')}`,
    title: null,
    syntax: null,
    userId: null,
    visibility: 'unlisted',
    expiresInSeconds: 3600,
    deleteTokenHash: null,
    ...options,
  };
}
