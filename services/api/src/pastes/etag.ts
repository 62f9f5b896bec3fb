import type { ContentEncoding } from '@pasteflow/domain';

/**
 * A strong entity tag: equal tags mean equal bytes, so that the compressed form of a content has another one (RFC 9110, 8.8.3.3).
 * @param contentHash `sha256:` and 64 hex digits
 */
export function etagOf(contentHash: string, encoding: ContentEncoding | null = null): string {
  const hash = contentHash.slice('sha256:'.length);
  return encoding === null ? `"${hash}"` : `"${hash}-${encoding}"`;
}
