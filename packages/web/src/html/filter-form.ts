import type { Site } from './layout.ts';
import { html, type Html } from './html.ts';

/** A choice of a form: its values with their names. */
export function choice(
  { id, label, any }: { readonly id: string; readonly label: string; readonly any?: string },
  values: readonly (readonly [value: string, name: string])[],
  chosen: string | null = null,
): Html {
  return html`<div class="field"><label for="${id}">${label}</label><select id="${id}" name="${id}">${
    any !== undefined && html`<option value="">${any}</option>`
  }${values.map(
    ([value, name]) => html`<option value="${value}"${value === chosen && html` selected`}>${name}</option>`,
  )}</select></div>`;
}

/** A form that filters a list, by its address. */
export function filterForm({ words }: Pick<Site, 'words'>, action: string, fields: readonly Html[]): Html {
  return html`<form class="filter" method="get" action="${action}" role="search">
${fields}<div class="field"><button type="submit">${words.list.filter}</button></div>
</form>`;
}

/** A script says there how many rows the page shows, for those who don't see the list change. */
export function countOf(list: string): Html {
  return html`<p id="count" role="status" class="visually-hidden" data-words="${list}: {count}"></p>\n`;
}

/**
 * The links to the first and to the next page of a list.
 * @param query the filter of the list
 * @param next the cursor of the next page; null: this page is the last
 */
export function pageLinks(
  { words }: Pick<Site, 'words'>,
  action: string,
  query: Readonly<Record<string, string | null>>,
  { isFirst, next }: { readonly isFirst: boolean; readonly next: string | null },
): Html {
  const link = (more: string | null): string => {
    const all = Object.entries({ ...query, cursor: more }).filter(
      (entry): entry is [string, string] => entry[1] !== null && entry[1] !== '',
    );
    return all.length === 0 ? action : `${action}?${new URLSearchParams(all).toString()}`;
  };
  if (isFirst && next === null) return html``;
  return html`<nav class="toolbar" aria-label="${words.list.pages}">${
    !isFirst && html`<a class="button" href="${link(null)}">${words.list.first}</a>`
  }${next !== null && html`<a class="button" href="${link(next)}" rel="next">${words.list.next}</a>`}</nav>`;
}
