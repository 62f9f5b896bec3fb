import { formatDuration, formatTime } from '../html/formats.ts';
import { html, type Html, table } from '../html/html.ts';
import type { Words } from '../words/translation.ts';
import { startOf, stateName, type ShownTimeline } from './chart.ts';

export function transitionsTable(
  words: Words,
  { transitions, executions }: ShownTimeline,
  createdAt: string,
): Html {
  const { timeline: text } = words;
  const startMs = startOf(transitions, Date.parse(createdAt));
  const attempts = new Map(executions.map(({ id, attempt }) => [id, attempt]));
  const rows = transitions.map(({ machine, entity, from, to, at, actor, reason_class, reason }) => {
    const attempt = attempts.get(entity);
    const subject =
      attempt === undefined
        ? ((text.machines as Readonly<Record<string, string>>)[machine] ?? machine)
        : text.attempt(attempt);
    const afterMs = Date.parse(at) - startMs;
    return html`<tr><td class="number">${subject}</td><td>${stateName(words, from)}</td>
<td class="${to.toLowerCase()}">${stateName(words, to)}</td><td>${formatTime(at, words)}</td>
<td class="number">${formatDuration(Math.max(0, afterMs), words)}</td><td class="number">${actor}</td>
<td class="message" dir="auto">${reasonOf(words, reason_class, reason)}</td></tr>\n`;
  });
  const heads = [text.subject, text.from, text.to, text.at, text.after, text.by, text.reason];
  return table(text.transitions, heads, rows);
}

export function attemptsTable(words: Words, { executions }: ShownTimeline): Html {
  const { timeline: text } = words;
  const rows = executions.map(
    ({ attempt, status, run_at, started_at, finished_at, error_class, error }) =>
      html`<tr><td>${attempt}</td><td class="${status.toLowerCase()}">${stateName(words, status)}</td>
<td>${formatTime(run_at, words)}</td><td>${started_at !== null && formatTime(started_at, words)}</td>
<td>${finished_at !== null && formatTime(finished_at, words)}</td>
<td class="message" dir="auto">${reasonOf(words, error_class, error)}</td></tr>\n`,
  );
  return table(text.attempts, ['#', text.state, text.due, text.started, text.finished, text.error], rows);
}

/** Who uploaded the paste again after it had FAILED, and why; nothing when nobody did. */
export function retriesTable(words: Words, { retries }: ShownTimeline): Html | false {
  if (retries.length === 0) return false;
  const { timeline: text } = words;
  const rows = retries.map(
    ({ at, actor, reason_class, reason }) =>
      html`<tr><td>${formatTime(at, words)}</td><td class="number">${actor}</td>
<td class="message" dir="auto">${reasonOf(words, reason_class, reason)}</td></tr>\n`,
  );
  return html`<h2>${text.retries}</h2>
${table(text.retries, [text.at, text.by, text.reason], rows)}
`;
}

/** The text of a reason, which is English; of a class of reasons, such as `storage_unavailable`, its name. */
export function reasonOf(
  { timeline }: Words,
  reasonClass: string | null,
  text: string | null,
): Html | string | null {
  const plain = reasonClass?.replaceAll('_', ' ') ?? null;
  if (text !== null && text !== plain) return html`<span lang="en">${text}</span>`;
  return (timeline.reasons as Readonly<Record<string, string>>)[reasonClass ?? ''] ?? plain;
}
