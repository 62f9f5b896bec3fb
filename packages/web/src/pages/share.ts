import type { StoredOptions } from '@pasteflow/domain';
import { formatRemaining, formatSize, type Remaining } from '../html/formats.ts';
import { html, type Html } from '../html/html.ts';
import type { Site } from '../html/layout.ts';
import type { Words } from '../words/translation.ts';

/** What the link of a paste tells, and the command that reads it. */
export interface SharedPaste extends StoredOptions {
  readonly url: string;
  /** Reports hold the paste, so that only its owner reads it. */
  readonly isHeld: boolean;
  readonly size_bytes: number;
  /** How long the paste is still there; null or missing: for ever. */
  readonly remaining?: Remaining | null;
}

/** On a phone the button opens the sheet by which programs share, instead. */
export function linkButton(words: Words, url: string, weight = ''): Html {
  return html`<button type="button" id="copy-link" class="${weight}" data-url="${url}"${linkWords(words)} aria-keyshortcuts="y" hidden>${words.paste.copyLink}</button>`;
}

/** @param url of this paste alone: a slug may show other lines later */
export function linesButton(words: Words, url: string): Html {
  return html`<button type="button" id="copy-lines" data-url="${url}"${linkWords(words)} hidden>${words.paste.copyLines}</button>`;
}

function linkWords({ paste: text }: Words): Html {
  return html` data-done="${text.copied}" data-failed="${text.copyFailed}" data-share="${text.share}"`;
}

/** The command that reads the paste. Whoever needs a token for it has it in a variable of the shell. */
export function command(
  { paste: text, created }: Words,
  { visibility, isHeld, url, files }: SharedPaste,
): Html {
  const needsToken = visibility !== 'unlisted' || isHeld;
  const what = files === null ? url : `-OJ ${url}/archive`;
  const curl = needsToken ? `curl -H "Authorization: Bearer $TOKEN" ${what}` : `curl ${what}`;
  return html`<div class="command"><code id="curl" dir="ltr">${curl}</code><button type="button" id="copy-curl" aria-describedby="curl" data-done="${text.copied}" data-failed="${text.copyFailed}" hidden>${created.copy}</button></div>`;
}

/**
 * What other sites show of a link. Nothing of what only some people may read, or only once.
 * @param kind the name of its language, or of the type of a file
 */
export function openGraph(
  { house, words }: Site,
  paste: SharedPaste,
  {
    title,
    kind,
    isImage = false,
  }: { readonly title: string; readonly kind: string; readonly isImage?: boolean },
): Html | undefined {
  const { visibility, burn, encrypted, url, remaining = null } = paste;
  if (visibility !== 'unlisted' || burn || encrypted) return undefined;
  const expires =
    remaining === null
      ? words.paste.neverExpiresLine
      : `${words.paste.expiresLine} ${formatRemaining(remaining, words)}`;
  const properties = {
    site_name: house.name,
    type: 'article',
    title,
    description: `${kind}, ${formatSize(paste.size_bytes, words)}, ${expires}`,
    url,
  };
  const all = Object.entries(isImage ? { ...properties, image: `${url}/image` } : properties);
  return html`${all.map(([name, content]) => html`<meta property="og:${name}" content="${content}">\n`)}`;
}
