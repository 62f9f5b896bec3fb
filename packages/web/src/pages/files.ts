import { languageOf, type Language, type PasteFile } from '@pasteflow/domain';
import type { ContentKind } from '../content/content-kind.ts';
import type { TextWarnings } from '../content/paste-lines.ts';
import { tabSizeOf } from '../content/tab-size.ts';
import { formatSize, languageName } from '../html/formats.ts';
import { html, type Html } from '../html/html.ts';
import { frame, type Site } from '../html/layout.ts';
import type { Words } from '../words/translation.ts';
import { deletion } from './deletion.ts';
import { formatOf } from './file.ts';
import { heading } from './heading.ts';
import { moreMenu, statusLines, viewData, viewsOf, warningsHtml, wrapButton } from './paste.ts';
import { linesButton, linkButton, openGraph } from './share.ts';
import { titleOf, type ShownPaste } from './shown-paste.ts';

/** The page of a paste of several files, in parts between which the contents are written as they arrive. */
export interface FilesPage {
  readonly head: string;
  readonly tail: string;
  /** @param firstText the first characters of a text, which may name its language */
  readonly partOf: (shown: ShownFile, firstText: string) => FilePart;
}

interface ShownFile {
  readonly file: PasteFile;
  /** The place among the files, from 1: names can't be told apart in an address from what follows them. */
  readonly number: number;
  readonly kind: ContentKind;
}

/** What stands before and after a content: a text, an image in base64, or nothing. */
interface FilePart {
  readonly before: string;
  readonly after: (warnings: TextWarnings) => string;
  readonly language: string; // its id; empty: unknown
}

/** How the reader gets a file in other ways than by the page. */
interface WaysToFiles {
  readonly note: Html | false;
  /** The bar above the list. */
  readonly bar: Html;
  readonly wayTo: (file: PasteFile, number: number) => Html;
  /** The address of the exact bytes; null: only the page has them. */
  readonly rawOf: (file: PasteFile) => string | null;
}

/** The page of a stored paste. */
export function pasteFilesPage(site: Site, paste: ShownPaste, files: readonly PasteFile[]): FilesPage {
  const { paste: text } = site.words;
  const rawOf = ({ name }: PasteFile): string =>
    `${site.base}/${paste.short_code}/files/${name.split('/').map(encodeURIComponent).join('/')}`;
  return filesPage(site, paste, files, {
    note: false,
    bar: html`<div class="bar">
${linkButton(site.words, paste.url, 'primary')}
<a class="button" href="${site.base}/${paste.short_code}/archive" download>${text.downloadAll}</a>
${moreMenu(site, paste)}
${linesButton(site.words, new URL(paste.short_code, paste.url).href)}
<div class="right">${wrapButton(site.words)}</div>
</div>`,
    wayTo: (file) => html`<a class="button" href="${rawOf(file)}">${text.raw}</a>
<a class="button" href="${rawOf(file)}" download="${lastPart(file.name)}">${text.download}</a>
`,
    rawOf,
  });
}

export function filesPage(
  site: Site,
  paste: ShownPaste,
  files: readonly PasteFile[],
  ways: WaysToFiles,
): FilesPage {
  const { before, after } = frame(site, {
    title: titleOf(site.words, paste),
    scripts: ['files.js'],
    hasStylesInside: true,
    head: openGraph(site, paste, {
      title: titleOf(site.words, paste),
      kind: site.words.paste.files(files.length),
    }),
  });
  const head = html`${heading(site, paste, null)}
${ways.note}${statusLines(site.words)}
<div id="files" class="code" data-worker="${site.asset('worker.js')}" ${viewData(site)}>
${ways.bar}
${fileList(site, files, true)}</div>
`;
  return {
    head: before + head.markup,
    partOf: (shown, firstText) => filePart(site, paste, shown, { firstText, ways }),
    tail: html`${paste.isDeleted !== true && deletion(site, paste)}`.markup + after,
  };
}

/** More files fill a screen, so that the list is folded. */
const MAX_OPEN_FILES = 24;

/** @param isLinked whether the files are on this page */
export function fileList({ words }: Site, files: readonly PasteFile[], isLinked: boolean): Html {
  const items = files.map(({ name, size, syntax }, index) => {
    const shown = html`<bdi>${name}</bdi>`;
    const language = languageOf({ syntax, title: name });
    return html`<li>${isLinked ? html`<a href="#f${index + 1}">${shown}</a>` : html`<span>${shown}</span>`}<small>${factsOf(language === null ? null : languageName(language, words), size, words)}</small></li>\n`;
  });
  const list = html`<ol class="files">
${items}</ol>`;
  const { files: count, fileList: label } = words.paste;
  if (files.length <= MAX_OPEN_FILES) return html`<nav aria-label="${label}">${list}</nav>\n`;
  return html`<nav aria-label="${label}"><details><summary>${count(files.length)}</summary>${list}</details></nav>\n`;
}

function filePart(
  site: Site,
  paste: ShownPaste,
  { file, number, kind }: ShownFile,
  { firstText, ways }: { readonly firstText: string; readonly ways: WaysToFiles },
): FilePart {
  const { paste: text } = site.words;
  const language = kind === 'text' ? languageOf({ syntax: file.syntax, title: file.name }, firstText) : null;
  const isMarkdown = language?.id === 'markdown' && file.size > 0;
  const right = html`${isMarkdown && viewsOf(site, file.size)}${ways.wayTo(file, number)}${
    kind === 'text' && file.size > 0 && copyOf(site, ways.rawOf(file))
  }`;
  const head = html`<article id="f${number}" class="code file" aria-labelledby="f${number}-name">
<div class="bar"><h2 id="f${number}-name"><a href="#f${number}"><bdi>${file.name}</bdi></a></h2><small>${factsOf(kindOf(site, kind, language), file.size, site.words)}</small><div class="right">${right}</div></div>
`;
  const end = '</article>\n';
  if (file.size === 0)
    return {
      before: head.markup,
      after: () => html`<p class="hint">${text.emptyFile}</p>\n`.markup + end,
      language: '',
    };
  if (kind === 'text') {
    const id = language?.id ?? '';
    return {
      before:
        html`${head}<section class="content" dir="ltr" aria-label="${file.name}" data-language="${id}" data-tab="${tabSizeOf(id)}" tabindex="0">
`.markup,
      after: (warnings) => html`${warningsHtml(site.words, warnings)}</section>\n`.markup + end,
      language: id,
    };
  }
  if (kind === 'binary')
    return {
      before: head.markup,
      after: () =>
        html`<p class="hint">${text.binaryHint}${
          paste.isDeleted !== true &&
          html` <a href="${site.base}/${paste.short_code}?view=text#f${number}">${text.asText}</a>`
        }</p>\n`.markup + end,
      language: '',
    };
  return {
    before: html`${head}<div class="picture"><img alt="${text.imageAlt(file.name)}" src="data:${kind};base64,`
      .markup,
    after: () => `"></div>\n${end}`,
    language: '',
  };
}

function kindOf({ words }: Site, kind: ContentKind, language: Language | null): string | null {
  const { paste: text } = words;
  if (kind === 'binary') return text.binary;
  if (kind !== 'text') return text.imageOf(formatOf(kind));
  return language && languageName(language, words);
}

function factsOf(kind: string | null, size: number, words: Words): Html {
  return html`${kind !== null && html`<bdi>${kind}</bdi> · `}${formatSize(size, words)}`;
}

function copyOf({ words }: Site, raw: string | null): Html {
  const { paste: text } = words;
  return html`<button type="button" class="copy"${raw !== null && html` data-raw="${raw}"`} data-done="${text.copied}" data-failed="${text.copyFailed}" hidden>${text.copy}</button>`;
}

function lastPart(name: string): string {
  return name.split('/').at(-1) ?? name;
}
