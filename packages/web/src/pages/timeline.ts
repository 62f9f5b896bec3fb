import { html } from '../html/html.ts';
import { page, type Site } from '../html/layout.ts';
import { legend, timelineChart, type ShownTimeline } from '../timeline/chart.ts';
import { attemptsTable, retriesTable, transitionsTable } from '../timeline/tables.ts';
import type { ShownPaste } from './shown-paste.ts';

/** The states and attempts of a paste over time: a drawing, and tables with the same facts. */
export function timelinePage(site: Site, paste: ShownPaste, timeline: ShownTimeline, now: Date): string {
  const { timeline: text } = site.words;
  const name = paste.title ?? paste.short_code;
  const drawing = timelineChart(site.words, timeline, paste.created_at, now);
  return page(site, {
    title: text.title(name),
    scripts: ['timeline.js'],
    main: html`<p><a href="${site.base}/${paste.short_code}">${site.words.back(text.back)}</a></p>
<h1>${text.title('')}<bdi>${name}</bdi></h1>
<p class="hint">${text.intro}</p>
<figure class="chart"><div class="scroll" role="region" aria-label="${text.chart}" tabindex="0">${drawing}</div>
${legend(site.words, drawing)}</figure>
${retriesTable(site.words, timeline)}<h2>${text.transitions}</h2>
${timeline.transitions.length === 0 ? html`<p>${text.none}</p>` : transitionsTable(site.words, timeline, paste.created_at)}
<h2>${text.attempts}</h2>
${attemptsTable(site.words, timeline)}`,
  });
}
