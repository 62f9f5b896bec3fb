/**
 * The columns of `pastes` that the statements of `create-paste.ts`, `create-pastes.ts` and `retry-failed.ts` insert. All three services run
 * one of them: the api creates pastes, import jobs do in the worker, and `ops retry` does in the janitor. Each needs the right to every column.
 */
export const insertedPasteColumns = [
  'short_code',
  'user_id',
  'visibility',
  'content_hash',
  'size_bytes',
  'title',
  'syntax',
  'encrypted',
  'expires_at',
  'delete_token_hash',
  'burn',
  'slug',
  'parent',
] as const;
