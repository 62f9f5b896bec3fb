import { languageOf, type PasteFile } from '@pasteflow/domain';
import type { ImageType } from '../content/content-kind.ts';
import { html, type Html } from '../html/html.ts';
import { formUser, frame, page, type Site } from '../html/layout.ts';
import { formatOf } from './file.ts';
import { fileList, filesPage, type FilesPage } from './files.ts';
import { withToken } from './deletion.ts';
import { heading } from './heading.ts';
import { copyButton, textPage, wrapButton, type TextPage } from './paste.ts';
import { toldBefore } from './receipt.ts';
import { titleOf, type ShownPaste } from './shown-paste.ts';

/**
 * The page of a paste that is deleted when it is read. It shows nothing of the text: a form reveals the text.
 * @param readerKey random; a reader who sends the form with this key can send the form again when the answer
 * breaks off
 */
export function burnPage(site: Site, paste: ShownPaste, readerKey: string): string {
  const { burn: text } = site.words;
  const { files } = paste;
  return page(site, {
    title: titleOf(site.words, paste),
    scripts: ['timeline.js'], // which shows the times relative to now
    hasStylesInside: true,
    main: html`${heading(site, paste, languageOf(paste))}
${files !== null && html`<div class="code">${fileList(site, files, false)}</div>`}<p class="notice attention">${text.explanation} ${toldBefore(site, paste)}</p>
<form method="post" action="${site.base}/${paste.short_code}"><input type="hidden"
name="key" value="${readerKey}">${formUser(site)}<p><button class="primary" type="submit">${files === null ? text.reveal : text.revealFiles}</button></p></form>
<details class="explanation"><summary>${text.helpTitle}</summary><p>${text.help}</p>
<p>${text.command} <code dir="ltr">curl -X POST ${paste.url} -H "Idempotency-Key: \${KEY:=$(uuidgen)}"</code></p></details>
${withToken(site, paste)}`,
  });
}

/**
 * The page with the text, which no other request shows.
 * @param readerKey with which this reader can have the content again for some minutes
 */
export function revealedPage(site: Site, paste: ShownPaste, firstText: string, readerKey: string): TextPage {
  return textPage(site, { ...paste, isDeleted: true }, firstText, {
    note: html`<p class="notice attention">${site.words.burn.revealed}</p>\n`,
    above: () =>
      html`<div class="bar">${download(site, paste, { key: readerKey })}<div class="right">${wrapButton(site.words)}${copyButton(site.words, null, 'primary')}</div></div>`,
    below: false,
  });
}

/** The page with the files, which no other request shows. */
export function revealedFilesPage(
  site: Site,
  paste: ShownPaste,
  files: readonly PasteFile[],
  readerKey: string,
): FilesPage {
  const gone = { ...paste, isDeleted: true };
  return filesPage(site, gone, files, {
    note: html`<p class="notice attention">${site.words.burn.revealed}</p>\n`,
    bar: html`<div class="bar">${download(site, paste, { key: readerKey, label: site.words.paste.downloadAll, weight: 'primary' })}<div class="right">${wrapButton(site.words)}</div></div>`,
    wayTo: (_file, number) => download(site, paste, { key: readerKey, file: number }),
    rawOf: () => null,
  });
}

/** The page with the image in two parts, between which its bytes stand in base64. */
export function revealedImagePage(
  site: Site,
  paste: ShownPaste,
  { type, key }: { readonly type: ImageType; readonly key: string },
): { readonly head: string; readonly tail: string } {
  const { paste: text, burn } = site.words;
  const { before, after } = frame(site, {
    title: titleOf(site.words, paste),
    scripts: ['timeline.js'], // which shows the times relative to now
    hasStylesInside: true,
  });
  const main = html`${heading(site, { ...paste, isDeleted: true }, null, text.imageOf(formatOf(type)))}
<p class="notice attention">${burn.revealedImage}</p>
<div class="code"><div class="bar"><div class="right">${download(site, paste, { key, weight: 'primary' })}</div></div>
<div class="picture"><img alt="${text.imageAlt(titleOf(site.words, paste))}" src="data:${type};base64,`;
  return { head: before + main.markup, tail: `"></div></div>${after}` };
}

/**
 * In a window of its own, because an answer that is no file must not take the place of the only copy.
 * @param file the number of one of several; default: all of the paste
 */
function download(
  { base, words }: Site,
  { short_code }: ShownPaste,
  {
    key,
    file,
    label = words.paste.download,
    weight = '',
  }: { readonly key: string; readonly file?: number; readonly label?: string; readonly weight?: string },
): Html {
  return html`<form method="post" action="${base}/${short_code}" target="_blank"><input type="hidden"
name="key" value="${key}"><input type="hidden" name="download" value="yes">${
    file !== undefined && html`<input type="hidden" name="file" value="${file}">`
  }<button class="${weight}"
type="submit">${label}</button></form>`;
}
