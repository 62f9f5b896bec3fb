import { randomUUID } from 'node:crypto';
import {
  copiedOptionNames,
  MAX_FILES,
  optionOf,
  type CopiedOption,
  type StoredOptions,
} from '@pasteflow/domain';
import { formatSize } from '../html/formats.ts';
import { html, type Html } from '../html/html.ts';
import { formUser, onlyReads, page, type Site } from '../html/layout.ts';
import { personText } from '../html/person.ts';
import type { Words } from '../words/translation.ts';
import { createButton, doors, eitherTitle, fieldsOfText, secretFields, type Door } from './doors.ts';
import { conflictNote, editFields, type Conflict } from './newer-version.ts';
import { maxBytesFor, mustBurn } from './house-rules.ts';
import { fileBlock, hiddenKept, keptFiles } from './file-block.ts';
import { control, controlsAt, type FormOption } from './option-controls.ts';
import { reasonsOf, type ShownProblem } from './problem.ts';

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
  /** Why a newer version was refused otherwise; null: it was not. */
  readonly problem: ShownProblem | null;
  /** The version that somebody has saved meanwhile, and that the new one would supersede; null: nobody has. */
  readonly conflict: Conflict | null;
}

/** A text of up to this size is in the page of the form. */
export const MAX_FILLED_BYTES = 256 * 1024;

/** The paste that a new one is made from, with the options that the new one begins with. */
export interface ShownOrigin extends Pick<StoredOptions, CopiedOption | 'files'> {
  readonly short_code: string;
  /**
   * The text to begin with; or why there is none: a script fetches a long one and several files, and what is no text
   * stays away.
   */
  readonly text:
    | string
    | { readonly missing: 'too long' | 'in progress' | 'not text' | 'encrypted' | 'files' };
  /** What a newer version has besides; null: the new paste is another one. */
  readonly edit: EditedPaste | null;
}

interface EditedPaste extends Pick<StoredOptions, 'visibility'> {
  /** The paste or, for an older version, the newest one. */
  readonly supersedes: string;
  /** Where the two differ. */
  readonly conflict: Conflict | null;
  /** That one is anonymous. */
  readonly needsToken: boolean;
}

/** What another program has shared, for the form to begin with. */
export interface SharedText {
  readonly title: string;
  readonly text: string;
}

/**
 * The form at `/`. Without JavaScript the browser sends the form itself: a field named `text`, whose newlines
 * the browser turns into CR LF, or files named `content`, byte for byte.
 * @param refused the form as it was sent; null: an empty form
 */
export function newPastePage(
  site: Site,
  {
    maxPasteBytes: maxBytesOfAll,
    refused = null,
    origin = null,
    shared = null,
    isSecret = false,
  }: {
    readonly maxPasteBytes: number;
    readonly refused?: RefusedForm | null;
    readonly origin?: ShownOrigin | null;
    readonly shared?: SharedText | null;
    /** The form begins as that of a secret. */
    readonly isSecret?: boolean;
  },
): string {
  const { form, secret } = site.words;
  const maxPasteBytes = maxBytesFor(site, maxBytesOfAll);
  const begun = shared === null ? fieldsOf(origin) : new Map([['title', shared.title]]);
  const fields = refused?.fields ?? (isSecret ? secretFields(site) : begun);
  const entered = (name: string): string => fields.get(name) ?? '';
  const supersedes = entered('supersedes');
  const isEdit = supersedes !== '';
  const isNew = !isEdit && entered('parent') === '';
  // The form of a secret sends no title, and the others always one.
  const door: Door = isSecret || (isNew && refused !== null && !fields.has('title')) ? 'secret' : 'text';
  const title = isEdit ? site.words.edit.title(supersedes) : door === 'secret' ? secret.title : form.title;
  const show = (name: FormOption) => {
    const shown = control(site, name, { entered: entered(name), error: refused?.slugError, isEdit });
    return optionOf(name).tellsOfContent === true ? fieldsOfText(shown, door) : shown;
  };
  const conflict = refused?.conflict ?? origin?.edit?.conflict ?? null;
  const text = refused?.text ?? shared?.text ?? (typeof origin?.text === 'string' ? origin.text : '');
  return page(site, {
    title,
    scripts: ['new-paste.js'],
    ...(!isEdit && { place: '/' }),
    main: html`<h1 class="visually-hidden">${isNew ? eitherTitle(site.words, door) : title}</h1>
${isNew ? doors(site, door) : !isEdit && html`<p class="intro">${site.words.intro(site.house.name)}</p>\n`}${onlyReads(site)}<form id="new-paste" class="new-paste" data-door="${door}" method="post" action="${site.base}/" enctype="multipart/form-data"
data-empty="${form.empty}" data-max-bytes="${maxPasteBytes}" data-too-large="${form.atMost(formatSize(maxPasteBytes, site.words))}"
data-too-many="${form.atMost(site.words.paste.files(MAX_FILES))}" data-unreachable="${form.unreachable}"
data-unencrypted="${site.words.encryption.failed}"
data-viewer="${site.viewer?.name ?? ''}"${refused !== null && html` data-refused`}${shared !== null && html` data-shared`}${fetched(site, origin)}>
<input id="form-key" type="hidden" name="form_key" value="${randomUUID()}" autocomplete="off">${formUser(site)}
<div class="editor">
<label class="visually-hidden" for="text">${form.content}</label>
<textarea id="text" name="text" rows="12" dir="ltr" placeholder="${door === 'secret' ? secret.placeholder : form.placeholder}"
data-other-placeholder="${door === 'secret' ? form.placeholder : secret.placeholder}" spellcheck="false"
autocapitalize="off" autocomplete="off" aria-describedby="text-hint"${refused === null && html` autofocus`}${(origin?.files || fields.has('files_of')) && html` hidden`}>
${text}</textarea>
<div id="files" hidden></div>
<template id="file-template">${fileBlock(site.words)}</template>
${origin?.files && keptFiles(site.words, origin.short_code, origin.files)}${
      refused !== null && hiddenKept(fields)
    }<div class="below"><p id="text-hint" class="hint keys">${form.contentHint}</p><button id="add-file" type="button"
hidden>${form.addFile}</button></div>
</div>
<div class="side">
${refused?.hasOtherUser === true && otherUser(site)}${
      refused?.problem &&
      html`<div class="notice bad" role="alert">${reasonsOf(site, refused.problem)}</div>\n`
    }${conflict !== null && conflictNote(site, conflict)}${
      refused?.hasBoth === true && html`<p class="notice bad" role="alert">${form.bothWithoutScript}</p>\n`
    }${
      refused?.isParentMissing === true
        ? html`<p class="notice bad"
role="alert">${site.words.diff.parentMissing}</p>\n`
        : isEdit
          ? editFields(site, supersedes, fields.has('delete_token'))
          : originField(site.words, origin, entered('parent'))
    }${door === 'secret' && unreadable(site, show)}${show('title')}<div class="field"><label for="file">${form.file}</label><input id="file"
name="content" type="file" multiple aria-describedby="file-hint"><p id="file-hint"
class="hint">${form.atMost(formatSize(maxPasteBytes, site.words))}${
      refused?.text === '' && html` ${form.fileAgain}`
    }</p></div>
${besideFile.map(show)}${
      !isEdit &&
      moreOptions(site, show, {
        door,
        isOpen:
          belowMore.some((name) => entered(name) !== '') ||
          (door === 'text' && (entered('burn') !== '' || mustBurn(site))),
      })
    }<div class="send">
<div id="form-error" role="alert"></div>
<p id="sign-in-again" hidden>${signInAgain(site)}</p>
<p id="form-status" class="hint" role="status"></p>
${isEdit ? html`<button id="create" class="primary" type="submit">${site.words.edit.save}</button>` : createButton(site, door)}
<button id="each" type="button" data-created="${form.several.created}" data-refused="${form.several.refused}"
data-copy-all="${form.several.copyAll}" hidden>${form.several.each}</button>
${isEdit && html`<p class="hint">${site.words.edit.hint}</p>`}${site.viewer === null && html`<p class="hint readers">${form.privacy}</p>`}<p class="hint readers encrypted">${site.words.encryption.readers}</p>
<p class="hint readers burn">${site.words.burn.readers}</p>
</div>
</div>
</form>`,
  });
}

/** In place of the form, for who must sign in before anything is typed. @param next the path to go to afterwards */
export function closedPage(site: Site, next: string): string {
  const { base, house, words } = site;
  return page(site, {
    title: words.form.title,
    place: '/',
    main: html`<div class="card"><h1>${words.form.title}</h1>
<p>${words.intro(house.name)}</p>
<p>${words.form.closed}</p>
<p><a class="button primary" href="${base}/session?next=${encodeURIComponent(next)}">${words.signIn.link}</a></p></div>`,
  });
}

/** What few texts have, and no newer version: those are for one reader, or have a key of their own. */
function moreOptions(
  site: Site,
  show: (name: FormOption) => Html | false,
  { door, isOpen }: { readonly door: Door; readonly isOpen: boolean },
): Html {
  const below = belowMore.map(show);
  const isEmpty = door === 'secret' && below.every((each) => each === false);
  return html`<details id="more" class="more"${isOpen && html` open`}${isEmpty && html` hidden`}>
<summary>${site.words.form.more}</summary>
${door === 'text' && unreadable(site, show)}${below}</details>\n`;
}

/** What keeps a paste from others. A script moves it to where the other door has it. */
function unreadable({ words }: Site, show: (name: FormOption) => Html | false): Html {
  const { encryption, encrypted } = words;
  return html`<div id="unreadable">${show('burn')}<fieldset id="encryption" class="bare encryption" hidden>
<legend class="visually-hidden">${encryption.option}</legend>
<label class="check" for="encrypt"><input id="encrypt" type="checkbox" aria-describedby="encrypt-hint"> ${encryption.option}</label>
<p id="encrypt-hint" class="hint" hidden>${encryption.insecure}</p>
<div id="encryption-options" hidden>
<div class="field narrow"><label for="password">${encryption.password}</label><input id="password"
type="password" autocomplete="new-password" aria-describedby="password-hint"><p id="password-hint"
class="hint">${encryption.passwordHint}</p></div>
<details class="hint"><summary>${encrypted.explanationTitle}</summary><p>${encrypted.explanation}</p></details>
</div>
</fieldset>
</div>`;
}

/** The file stands behind the title, and the encryption behind the paste that is deleted when it is read. */
const besideFile = controlsAt('beside').filter((name) => name !== 'title');
const belowMore = controlsAt('more').filter((name) => name !== 'burn');

/** The script shows it in place of the error. The button makes the paste of whoever is signed in now. */
function otherUser(site: Site): Html {
  const { viewer, words } = site;
  const name = viewer === null ? null : personText(viewer.person, words);
  return html`<div id="other-user" class="notice bad" role="alert"><p>${words.form.userChanged}</p>
<p class="toolbar"><button type="submit">${name === null ? words.form.createAsNobody : words.form.createAs(name)}</button>${
    viewer === null && html` ${signInAgain(site)}`
  }</p></div>\n`;
}

/** In another tab: the form keeps what was entered. */
function signInAgain({ base, words }: Site): Html {
  return html`<a class="button" href="${base}/session" target="_blank">${words.signIn.link}</a>`;
}

/** The address of a text that the script fetches. */
function fetched({ base, words }: Site, origin: ShownOrigin | null): Html | false {
  if (origin === null || typeof origin.text === 'string') return false;
  const { missing } = origin.text;
  if (missing === 'not text' || missing === 'encrypted') return false;
  return html` data-from="${base}/v1/pastes/${origin.short_code}/content" data-unfilled="${words.diff.notFilled}"${
    origin.files !== null && html` data-files="${JSON.stringify(origin.files)}"`
  }`;
}

/** The fields that a paste and the one that is made from it have in common. */
function fieldsOf(origin: ShownOrigin | null): ReadonlyMap<string, string> {
  if (origin === null) return new Map();
  const { edit } = origin;
  return new Map([
    ...(edit === null
      ? [['parent', origin.short_code] as const]
      : [['supersedes', edit.supersedes] as const, ['visibility', edit.visibility] as const]),
    ...(edit?.needsToken === true ? [['delete_token', ''] as const] : []),
    ...copiedOptionNames.map((name) => [name, String(origin[name] || '')] as const),
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
  return html`<div class="field"><label class="check" for="parent"><input id="parent"
name="parent" type="checkbox" value="${parent}" checked aria-describedby="parent-hint"> ${diff.madeFrom} ${parent}</label><p id="parent-hint"
class="hint">${diff.madeFromHint}</p>
${missing === 'not text' && html`<p class="hint">${diff.notText}</p>\n`}${
    missing === 'too long' && html`<p class="hint">${diff.tooLong(formatSize(MAX_FILLED_BYTES, words))}</p>\n`
  }</div>
`;
}
