import { MAX_FILE_NAME_BYTES, type PasteFile } from '@pasteflow/domain';
import { formatSize } from '../html/formats.ts';
import { html, type Html } from '../html/html.ts';
import type { Words } from '../words/translation.ts';

/** A file that the script adds to the form. Its choice of a language is that of the form. @param name empty: none yet */
export function fileBlock({ form }: Words, name = '', text = ''): Html {
  return html`<fieldset class="file" aria-label="${name}">
<div class="head"><input value="${name}" aria-label="${form.fileName}" dir="ltr" maxlength="${MAX_FILE_NAME_BYTES}" autocomplete="off"
autocapitalize="off" spellcheck="false"><select aria-label="${form.labels.syntax}"></select><span
class="size"></span><button type="button" data-label="${form.removeNamed('{name}')}">${form.removeFile}</button></div>
<p class="field-error" role="alert" data-refused="${form.slugRefused('{reason}')}"></p>
<textarea aria-label="${form.content}" rows="6" dir="ltr" spellcheck="false" autocapitalize="off" autocomplete="off">
${text}</textarea>
</fieldset>`;
}

/** Without JavaScript, the form names the files that stay. */
export function keptFiles(words: Words, code: string, files: readonly PasteFile[]): Html {
  return html`<noscript><fieldset class="kept"><legend>${words.edit.keptFiles}</legend>
<input type="hidden" name="files_of" value="${code}">
${files.map(
  ({ name, size }, index) =>
    html`<label class="check"><input type="checkbox" name="keep_${index}" checked> <bdi>${name}</bdi> <small>${formatSize(size, words)}</small></label>\n`,
)}<p class="hint">${words.edit.keptHint}</p></fieldset></noscript>\n`;
}

/** The files that stay, of a form that was refused. */
export function hiddenKept(fields: ReadonlyMap<string, string>): readonly Html[] {
  if (!fields.has('files_of')) return [];
  const kept = [...fields].filter(([name]) => /^(?:files_of|keep_\d+)$/.test(name));
  return kept.map(
    ([name, value]) => html`<noscript><input type="hidden" name="${name}" value="${value}"></noscript>\n`,
  );
}
