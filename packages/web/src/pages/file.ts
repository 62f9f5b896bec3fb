import { fileNameOf } from '@pasteflow/domain';
import type { ContentKind, ImageType } from '../content/content-kind.ts';
import { formatSize } from '../html/formats.ts';
import { html, type Html } from '../html/html.ts';
import { page, type Site } from '../html/layout.ts';
import { withToken } from './deletion.ts';
import { heading } from './heading.ts';
import { linkButton, openGraph } from './share.ts';
import { titleOf, type ShownPaste } from './shown-paste.ts';

/** The page of a content that is no text: an image, or a card with a download. */
export function filePage(site: Site, paste: ShownPaste, kind: Exclude<ContentKind, 'text'>): string {
  const { paste: text } = site.words;
  const raw = `${site.base}/v1/pastes/${paste.short_code}/content`;
  const image = `${site.base}/${paste.short_code}/image`;
  const name = fileNameOf(paste.title, paste.short_code);
  const download = (className: string): Html =>
    html`<a class="button${className}" href="${raw}" download="${name}">${text.download}</a>`;
  const isImage = kind !== 'binary';
  const type = isImage ? text.imageOf(formatOf(kind)) : text.binary;
  return page(site, {
    title: titleOf(site.words, paste),
    scripts: ['timeline.js'], // which shows the times relative to now, and copies the link
    hasStylesInside: true,
    head: openGraph(site, paste, { title: titleOf(site.words, paste), kind: type, isImage }),
    main: html`${heading(site, paste, null, type)}
${
  isImage
    ? html`<div class="code"><div class="bar">${linkButton(site.words, paste.url)} <a class="button" href="${image}"
aria-keyshortcuts="r">${text.openImage}</a><div class="right">${download(' primary')}</div></div>
<div class="picture"><img src="${image}" alt="${text.imageAlt(titleOf(site.words, paste))}"></div></div>`
    : html`<div class="card"><p><strong>${text.binary}</strong> · ${formatSize(paste.size_bytes, site.words)}</p>
<p>${text.binaryHint}</p>
<p class="toolbar">${linkButton(site.words, paste.url)} ${download(' primary')} <a class="button" href="${site.base}/${paste.short_code}?view=text">${text.asText}</a></p>
</div>`
}
${withToken(site, paste)}`,
  });
}

/** `PNG` */
export function formatOf(type: ImageType): string {
  return type.slice('image/'.length).toUpperCase();
}
