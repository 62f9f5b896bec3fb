import { formatTime } from '../html/formats.ts';
import { html, type Html } from '../html/html.ts';
import { page, type Site } from '../html/layout.ts';
import { personText, type Person } from '../html/person.ts';
import type { Words } from '../words/translation.ts';
import type { ShownPaste } from './shown-paste.ts';

/** When a paste that is deleted when it is read was fetched, in ISO 8601, and by whom; null: somebody with the link. */
export interface Receipt {
  readonly read_at: string;
  readonly reader: Person | null;
}

export function receiptLine(words: Words, { read_at: at, reader }: Receipt): Html {
  const { receipt: text } = words;
  const by = reader === null ? text.somebody : personText(reader, words);
  return html`${text.fetched} ${formatTime(at, words)} · ${text.by(by)}`;
}

/** What the owner sees at the address of a paste that was read. */
export function receiptPage(
  site: Site,
  { short_code: code, title, ...receipt }: Receipt & Pick<ShownPaste, 'short_code' | 'title'>,
): string {
  const { receipt: text, problem, myPastes } = site.words;
  return page(site, {
    title: text.title,
    scripts: ['timeline.js'], // which shows the times relative to now
    main: html`<div class="card"><h1>${text.title}</h1>
<p><bdi>${title ?? code}</bdi></p>
<p>${receiptLine(site.words, receipt)}</p>
<p class="hint">${text.meaning}</p>
<p class="toolbar"><a class="button" href="${site.base}/my/pastes">${myPastes.title}</a> <a class="button" href="${site.base}/${code}/timeline">${problem.timeline}</a></p></div>`,
  });
}

/** What a person is told before the content is fetched; the owner learns that nobody has fetched it. */
export function toldBefore({ viewer, words }: Site, { deletion }: Pick<ShownPaste, 'deletion'>): string {
  const { receipt: text } = words;
  if (deletion === 'owner') return text.notYet;
  return viewer === null ? text.unnamed : text.named(personText(viewer.person, words));
}
