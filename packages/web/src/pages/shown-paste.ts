import type { PasteFile } from '@pasteflow/domain';
import { html, type Html } from '../html/html.ts';
import type { Words } from '../words/translation.ts';
import type { SharedPaste } from './share.ts';

/** What the page shows of a paste. The times are in ISO 8601. */
export interface ShownPaste extends SharedPaste {
  readonly short_code: string;
  readonly status: 'IN_PROGRESS' | 'PROCESSED' | 'FAILED';
  /** The page has just deleted the paste, which therefore no longer expires. Default: false. */
  readonly isDeleted?: boolean;
  /** Which version of a slug the paste is, and the newest that the reader can read. Default: of none. */
  readonly version?: { readonly number: number; readonly newest: number };
  /** The newest version, where that is another one and the reader can read it. Default: none. */
  readonly newer?: string | undefined;
  /** The slug that the reader, as its owner, can move from another paste to this one. Default: none. */
  readonly movable?: { readonly slug: string; readonly from: string } | null;
  /** The reader wants to see a content that is no text as one. Default: false. */
  readonly isBinaryText?: boolean;
  readonly created_at: string;
  readonly expires_at: string | null;
  /**
   * How the reader may delete the paste: with the token of its creation, or as its owner; null: not at all.
   */
  readonly deletion: 'token' | 'owner' | null;
}

export function titleOf(words: Words, paste: ShownPaste): string {
  const { title, files, short_code } = paste;
  if (title !== null) return title;
  return files === null ? `${untitled(words, paste)} ${short_code}` : nameOfFiles(words, files);
}

/** The title as the heading of a page, where each name has a direction of its own. */
export function titleHtml(words: Words, paste: ShownPaste): Html {
  const { title, files } = paste;
  if (title !== null || files === null) return html`<bdi>${title ?? untitled(words, paste)}</bdi>`;
  return html`<bdi>${files[0]?.name}</bdi> ${words.paste.andOthers(files.length - 1)}`;
}

function untitled(words: Words, { encrypted }: ShownPaste): string {
  return encrypted ? words.encrypted.title : words.paste.untitled;
}

/** What names a paste of several files that has no title. */
export function nameOfFiles({ paste }: Words, files: readonly PasteFile[]): string {
  return `${files[0]?.name ?? ''} ${paste.andOthers(files.length - 1)}`;
}

/** A script removes what is no longer true when the paste was read. */
export function untilRead({ burn }: ShownPaste): Html | false {
  return burn && html` data-until-read`;
}
