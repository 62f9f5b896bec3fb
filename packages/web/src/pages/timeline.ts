import { formatDuration, formatTime } from '../html/formats.ts';
import { html, type Html } from '../html/html.ts';
import { page, type Site } from '../html/layout.ts';
import { table } from '../html/table.ts';
import { timelineChart, type ShownTimeline } from '../timeline/chart.ts';
import { words } from '../words.ts';
import type { ShownPaste } from './paste.ts';

/** The states and attempts of a paste over time: a drawing, and tables with the same facts. */
export function timelinePage(site: Site, paste: ShownPaste, timeline: ShownTimeline, now: Date): string {
  const { timeline: text } = words;
  const name = paste.title ?? paste.short_code;
  return page(site, {
    title: text.title(name),
    scripts: ['timeline.js'],
    main: html`<p><a href="${site.base}/${paste.short_code}">← ${text.back}</a></p>
<h1>${text.title('')}<bdi>${name}</bdi></h1>
<p class="hint">${text.intro}</p>
<figure class="chart"><div class="scroll" role="region" aria-label="${text.chart}" tabindex="0">${timelineChart(timeline, paste.created_at, now)}</div>
<figcaption class="legend"><span class="key busy"></span>${text.running} <span class="key waiting"></span>${text.waiting} <span class="key good"></span>PROCESSED, SUCCEEDED <span class="key bad"></span>FAILED</figcaption></figure>
<h2>${text.transitions}</h2>
${timeline.transitions.length === 0 ? html`<p>${text.none}</p>` : transitionsTable(timeline, paste.created_at)}
<h2>${text.attempts}</h2>
${attemptsTable(timeline)}`,
  });
}

function transitionsTable({ transitions, executions }: ShownTimeline, createdAt: string): Html {
  const { timeline: text } = words;
  const attempts = new Map(executions.map(({ id, attempt }) => [id, attempt]));
  const rows = transitions.map(({ machine, entity, from, to, at, actor, reason_class, reason }) => {
    const attempt = attempts.get(entity);
    const subject = attempt === undefined ? (text.machines[machine] ?? machine) : text.attempt(attempt);
    const afterMs = Date.parse(at) - Date.parse(createdAt);
    return html`<tr><td>${subject}</td><td>${from}</td><td class="${to.toLowerCase()}">${to}</td><td>${formatTime(at)}</td><td>${formatDuration(Math.max(0, afterMs))}</td><td>${actor}</td><td>${reason ?? reason_class}</td></tr>\n`;
  });
  const heads = [text.subject, text.from, text.to, text.at, text.after, text.by, text.reason];
  return table(text.transitions, heads, rows);
}

function attemptsTable({ executions }: ShownTimeline): Html {
  const { timeline: text } = words;
  const rows = executions.map(
    ({ attempt, status, run_at, started_at, finished_at, error_class, error }) =>
      html`<tr><td>${attempt}</td><td class="${status.toLowerCase()}">${status}</td><td>${formatTime(run_at)}</td><td>${started_at !== null && formatTime(started_at)}</td><td>${finished_at !== null && formatTime(finished_at)}</td><td>${error ?? error_class}</td></tr>\n`,
  );
  return table(text.attempts, ['#', text.state, text.due, text.started, text.finished, text.error], rows);
}
