import type { CreatedPaste } from '../../src/index.ts';

/** A paste as the api returns it. */
export function pasteWith(fields: Partial<CreatedPaste>): CreatedPaste {
  return {
    short_code: 'q7Zk2Lm9Xa',
    url: 'https://paste.example.org/q7Zk2Lm9Xa',
    content_url: 'https://paste.example.org/v1/pastes/q7Zk2Lm9Xa/content',
    status: 'IN_PROGRESS',
    deletion_status: 'NOT_EXPIRED',
    visibility: 'unlisted',
    title: null,
    syntax: null,
    encrypted: false,
    content_hash: `sha256:${'0'.repeat(64)}`,
    burn: false,
    slug: null,
    version: null,
    parent: null,
    supersedes: null,
    files: null,
    superseded_by: null,
    held_at: null,
    size_bytes: 5,
    created_at: '2026-11-21T12:00:00.000Z',
    expires_at: null,
    processed_at: null,
    read_at: null,
    failure_class: null,
    failure_reason: null,
    ...fields,
  };
}
