import { formatSize, formatTime } from '../html/formats.ts';
import { html, type Html } from '../html/html.ts';
import { page, type Site } from '../html/layout.ts';

/** A version that the reader can read. `named_at` is in ISO 8601. */
interface ShownVersion {
  readonly number: number;
  readonly short_code: string;
  readonly title: string | null;
  readonly size_bytes: number;
  readonly visibility: 'unlisted' | 'private';
  readonly parent: string | null;
  readonly named_at: string;
}

/** The versions of a slug, newest first. @param paste by which they were found */
export function historyPage(
  site: Site,
  { short_code, slug }: { readonly short_code: string; readonly slug: string | null },
  versions: readonly ShownVersion[],
): string {
  const { history: text } = site.words;
  const name = slug === null ? short_code : `~${slug}`;
  return page(site, {
    title: text.title(name),
    scripts: ['timeline.js'], // which shows the times relative to now
    main: html`<p><a href="${site.base}/${name}">${site.words.back(site.words.timeline.back)}</a></p>
<h1>${text.title(name)}</h1>
<p class="hint">${text.intro}</p>
<ul class="rows">
${versions.map((version, n) => row(site, version, versions[n + 1]))}</ul>`,
  });
}

/** The changes are those since the parent, so that they are shown where the parent is the version before. */
function row({ base, words }: Site, version: ShownVersion, before: ShownVersion | undefined): Html {
  const { history: text, paste } = words;
  const { number, short_code, title, size_bytes, visibility, parent, named_at } = version;
  const hasChanges = before !== undefined && before.short_code === parent;
  return html`<li><div><p><a href="${base}/${short_code}"><strong>${text.version(number)}</strong></a> <bdi>${title ?? paste.untitled}</bdi>${visibility === 'private' && html` <span class="badge private">${paste.badges.private}</span>`}</p>
<p class="line"><span>${short_code}</span><span>${formatSize(size_bytes, words)}</span><span>${formatTime(named_at, words)}</span>${hasChanges && html`<span><a href="${base}/${short_code}/diff">${paste.changes}</a></span>`}</p></div></li>\n`;
}
