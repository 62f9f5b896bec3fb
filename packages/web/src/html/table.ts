import { html, type Html, type HtmlValue } from './html.ts';

/** A table with a name. A wide one scrolls by itself, and can be scrolled with the keyboard. */
export function table(name: string, heads: readonly HtmlValue[], rows: readonly Html[]): Html {
  return html`<div class="scroll" role="region" aria-label="${name}" tabindex="0"><table>
<thead><tr>${heads.map((head) => html`<th scope="col">${head}</th>`)}</tr></thead>
<tbody>
${rows}</tbody>
</table></div>`;
}
