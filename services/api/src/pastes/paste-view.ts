import type { PasteRow } from '@pasteflow/postgres';

/** A paste as clients see it (http-api.md). Times are RFC 3339 in UTC. */
export interface PasteView {
  readonly short_code: string;
  readonly url: string;
  readonly content_url: string;
  readonly status: PasteRow['status'];
  readonly deletion_status: PasteRow['deletion_status'];
  readonly title: string | null;
  readonly syntax: string | null;
  readonly content_hash: string;
  readonly size_bytes: number;
  readonly created_at: string;
  readonly expires_at: string | null;
  readonly processed_at: string | null;
  readonly failure_reason: string | null;
}

/** The columns of a paste that its view is made of. */
export type ViewedPaste = Pick<
  PasteRow,
  | 'short_code'
  | 'status'
  | 'deletion_status'
  | 'title'
  | 'syntax'
  | 'content_hash'
  | 'size_bytes'
  | 'created_at'
  | 'expires_at'
  | 'processed_at'
  | 'failure_reason'
>;

export function viewOf(paste: ViewedPaste, publicUrl: string): PasteView {
  return {
    short_code: paste.short_code,
    url: `${publicUrl}/${paste.short_code}`,
    content_url: `${publicUrl}/v1/pastes/${paste.short_code}/content`,
    status: paste.status,
    deletion_status: paste.deletion_status,
    title: paste.title,
    syntax: paste.syntax,
    content_hash: paste.content_hash,
    size_bytes: paste.size_bytes,
    created_at: paste.created_at.toISOString(),
    expires_at: paste.expires_at?.toISOString() ?? null,
    processed_at: paste.processed_at?.toISOString() ?? null,
    failure_reason: paste.failure_reason,
  };
}
