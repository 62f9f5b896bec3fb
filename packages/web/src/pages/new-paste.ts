import { randomUUID } from 'node:crypto';
import { languages } from '@pasteflow/domain';
import { languageName } from '../content/languages.ts';
import { formatSize } from '../html/formats.ts';
import { html, type Html } from '../html/html.ts';
import { formUser, page, type Site } from '../html/layout.ts';
import type { Words } from '../words/translation.ts';

const DEFAULT_EXPIRY = '2592000';

/** What somebody has entered, when the slug, the parent, a text with a file, or its user was refused. */
interface RefusedForm {
  /** Without a file, which no page can fill in. */
  readonly text: string;
  /** The other fields, by their names. */
  readonly fields: ReadonlyMap<string, string>;
  /** Why the slug was refused; null: it was not. */
  readonly slugError: string | null;
  /** The writer can no longer read the paste that the new one was to be made from. */
  readonly isParentMissing: boolean;
  /** The form had a text and a file. */
  readonly hasBoth: boolean;
  /** Somebody has signed in or out since the form was shown. */
  readonly hasOtherUser: boolean;
}

/** A text of up to this size is in the page of the form. */
export const MAX_FILLED_BYTES = 256 * 1024;

/** The paste that a new one is made from. */
export interface ShownOrigin {
  readonly short_code: string;
  readonly title: string | null;
  readonly syntax: string | null;
  /**
   * The text to begin with; or why there is none: a script fetches a long one, and what is no text stays
   * away.
   */
  readonly text: string | { readonly missing: 'too long' | 'in progress' | 'not text' | 'encrypted' };
}

/**
 * The form at `/`. Without JavaScript the browser sends the form itself: a field named `text`, whose newlines
 * the browser turns into CR LF, or a file named `content`, byte for byte.
 * @param refused the form as it was sent; null: an empty form
 */
export function newPastePage(
  site: Site,
  {
    maxPasteBytes,
    refused = null,
    origin = null,
  }: {
    readonly maxPasteBytes: number;
    readonly refused?: RefusedForm | null;
    readonly origin?: ShownOrigin | null;
  },
): string {
  const { form } = site.words;
  const fields = refused?.fields ?? fieldsOf(origin);
  const entered = (name: string): string => fields.get(name) ?? '';
  const text = refused?.text ?? (typeof origin?.text === 'string' ? origin.text : '');
  return page(site, {
    title: form.title,
    scripts: ['new-paste.js'],
    place: '/',
    main: html`<h1 class="visually-hidden">${form.title}</h1>
<form id="new-paste" class="new-paste" method="post" action="${site.base}/" enctype="multipart/form-data" data-empty="${form.empty}" data-both="${form.both}" data-unreachable="${form.unreachable}" data-unencrypted="${site.words.encryption.failed}" data-viewer="${site.viewer?.name ?? ''}"${refused !== null && html` data-refused`}${fetched(site, origin)}>
<input id="form-key" type="hidden" name="form_key" value="${randomUUID()}" autocomplete="off">${formUser(site)}
<div class="editor">
<label class="visually-hidden" for="text">${form.content}</label>
<textarea id="text" name="text" rows="12" dir="ltr" placeholder="${form.placeholder}" spellcheck="false" autocapitalize="off" autocomplete="off" aria-describedby="text-hint"${refused === null && html` autofocus`}>
${text}</textarea>
<p id="text-hint" class="hint keys">${form.contentHint}</p>
</div>
<div class="side">
${refused?.hasOtherUser === true && otherUser(site)}${refused?.hasBoth === true && html`<p class="notice bad" role="alert">${form.bothWithoutScript}</p>\n`}${refused?.isParentMissing === true ? html`<p class="notice bad" role="alert">${site.words.diff.parentMissing}</p>\n` : originField(site.words, origin, entered('parent'))}<div class="field"><label for="title">${form.pasteTitle}</label><input id="title" name="title" value="${entered('title')}" dir="auto" maxlength="200" autocomplete="off"></div>
<div class="field"><label for="file">${form.file}</label><input id="file" name="content" type="file" aria-describedby="file-hint" data-max-bytes="${maxPasteBytes}" data-too-large="${form.atMost(formatSize(maxPasteBytes, site.words))}"> <button id="remove-file" type="button" hidden>${form.removeFile}</button><p id="file-hint" class="hint">${form.atMost(formatSize(maxPasteBytes, site.words))}${refused?.text === '' && html` ${form.fileAgain}`}</p></div>
<div class="field"><label for="syntax">${form.syntax}</label><select id="syntax" name="syntax"><option value="" data-detected="${form.detectedSyntax}">${form.detectSyntax}</option>${optionsOf(
      languages.map((each) => [each.id, languageName(each, site.words)]),
      entered('syntax'),
    )}</select></div>
<div class="field"><label for="expires_in">${form.expiry}</label><select id="expires_in" name="expires_in">${optionsOf(Object.entries(form.expiries), entered('expires_in') || DEFAULT_EXPIRY)}</select></div>
${site.viewer !== null && html`<div class="field"><label for="visibility">${form.visibility}</label><select id="visibility" name="visibility">${optionsOf(Object.entries(form.visibilities), entered('visibility'))}</select></div>\n`}<details id="more" class="more"${(entered('burn') !== '' || entered('slug') !== '') && html` open`}>
<summary>${form.more}</summary>
<div class="field"><label class="check" for="burn"><input id="burn" name="burn" type="checkbox" value="true" aria-describedby="burn-hint"${entered('burn') === 'true' && html` checked`}> ${site.words.burn.option}</label><p id="burn-hint" class="hint">${site.words.burn.optionHint}</p></div>
<fieldset id="encryption" class="encryption" hidden>
<legend class="visually-hidden">${site.words.encryption.option}</legend>
<label class="check" for="encrypt"><input id="encrypt" type="checkbox" aria-describedby="encrypt-hint"> ${site.words.encryption.option}</label>
<p id="encrypt-hint" class="hint" hidden>${site.words.encryption.insecure}</p>
<div id="encryption-options" hidden>
<div class="field narrow"><label for="password">${site.words.encryption.password}</label><input id="password" type="password" autocomplete="new-password" aria-describedby="password-hint"><p id="password-hint" class="hint">${site.words.encryption.passwordHint}</p></div>
<p class="hint">${site.words.encrypted.explanation}</p>
</div>
</fieldset>
${site.viewer !== null && slugField(site.words, entered('slug'), refused?.slugError ?? null)}</details>
<div class="send">
<div id="form-error" role="alert"></div>
<p id="sign-in-again" hidden>${signInAgain(site)}</p>
<p id="form-status" class="hint" role="status"></p>
<button id="create" class="primary" type="submit">${form.submit}</button>
${site.viewer === null && html`<p class="hint readers">${form.privacy}</p>`}<p class="hint readers encrypted">${site.words.encryption.readers}</p><p class="hint readers burn">${site.words.burn.readers}</p>
</div>
</div>
</form>
<dialog id="several" aria-labelledby="several-title" data-words="${JSON.stringify(form.several)}"><form method="dialog">
<h2 id="several-title"></h2>
<p class="toolbar"><button class="primary" value="archive">${form.several.archive}</button> <button value="each">${form.several.each}</button> <button value="">${form.several.none}</button></p>
</form></dialog>`,
  });
}

function optionsOf(options: readonly (readonly [value: string, name: string])[], selected: string) {
  return options.map(
    ([value, name]) =>
      html`<option value="${value}"${value === selected && html` selected`}>${name}</option>`,
  );
}

/** The script shows it in place of the error. The button makes the paste of whoever is signed in now. */
function otherUser(site: Site): Html {
  const { viewer, words } = site;
  const name = viewer === null ? null : `\u2068${viewer.name}\u2069`;
  return html`<div id="other-user" class="notice bad" role="alert"><p>${words.form.userChanged}</p>
<p class="toolbar"><button type="submit">${name === null ? words.form.createAsNobody : words.form.createAs(name)}</button>${viewer === null && html` ${signInAgain(site)}`}</p></div>\n`;
}

/** In another tab: the form keeps what was entered. */
function signInAgain({ base, words }: Site): Html {
  return html`<a class="button" href="${base}/session" target="_blank">${words.signIn.link}</a>`;
}

/** The browser checks the pattern before it sends the form. @param error null: none */
export function slugField({ form }: Words, value: string, error: string | null): Html {
  return html`<div class="field"><label for="slug">${form.slug}</label><input id="slug" name="slug" value="${value}" dir="ltr" minlength="3" maxlength="64" pattern="[a-z0-9][a-z0-9\\-]+[a-z0-9]" title="${form.slugHint}" autocomplete="off" autocapitalize="off" spellcheck="false" aria-describedby="slug-error slug-hint"${error !== null && html` aria-invalid="true" autofocus`}><p id="slug-error" class="field-error" role="alert">${error}</p><p id="slug-hint" class="hint">${form.slugHint}</p></div>\n`;
}

/** The address of a text that the script fetches. */
function fetched({ base, words }: Site, origin: ShownOrigin | null): Html | false {
  if (origin === null || typeof origin.text === 'string') return false;
  const { missing } = origin.text;
  if (missing !== 'too long' && missing !== 'in progress') return false;
  return html` data-from="${base}/v1/pastes/${origin.short_code}/content" data-unfilled="${words.diff.notFilled}"`;
}

/** The fields that a paste and the one that is made from it have in common. */
function fieldsOf(origin: ShownOrigin | null): ReadonlyMap<string, string> {
  if (origin === null) return new Map();
  const { short_code, title, syntax } = origin;
  return new Map([
    ['parent', short_code],
    ['title', title ?? ''],
    ['syntax', syntax ?? ''],
  ]);
}

/**
 * A checkbox, so that the writer can keep the origin from the readers.
 * @param parent the short code; empty: the paste is made from none
 */
function originField(words: Words, origin: ShownOrigin | null, parent: string): Html | false {
  if (parent === '') return false;
  const { diff } = words;
  const missing = origin === null || typeof origin.text === 'string' ? null : origin.text.missing;
  return html`<div class="field"><label class="check" for="parent"><input id="parent" name="parent" type="checkbox" value="${parent}" checked aria-describedby="parent-hint"> ${diff.madeFrom} ${parent}</label><p id="parent-hint" class="hint">${diff.madeFromHint}</p>
${missing === 'not text' && html`<p class="hint">${diff.notText}</p>\n`}${missing === 'too long' && html`<p class="hint">${diff.tooLong(formatSize(MAX_FILLED_BYTES, words))}</p>\n`}</div>
`;
}
