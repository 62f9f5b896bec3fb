import { formatDuration, formatNumber } from '../html/formats.ts';
import { html, type Html, type HtmlValue, table } from '../html/html.ts';
import { actionLink, countText, operationsPage, row, type OperationsSite } from './layout.ts';
import { en } from '../words/en.ts';
import { operationsWords as words } from './words.ts';

/** Times are in ISO 8601. */
export interface ShownOverview {
  readonly at: string;
  /** The last reading failed, and these figures are of an earlier one. */
  readonly isStale: boolean;
  /** What is going on: names and values. */
  readonly glance: readonly (readonly [name: string, value: string])[];
  /** What goes on until a person settles it. */
  readonly needs: readonly {
    readonly text: string;
    /** Below the base; null: none. */
    readonly page: string | null;
    readonly action: {
      readonly name: string;
      readonly subject: string | null;
      readonly label: string;
    } | null;
  }[];
  readonly states: readonly {
    readonly machine: string;
    readonly state: string;
    readonly count: number;
    readonly approximate: boolean;
    readonly oldest_seconds: number | null;
  }[];
  readonly stuck: readonly {
    readonly what: string;
    readonly kind: string;
    readonly subject: string;
    readonly attempt: number | null;
    readonly worker_id: string | null;
    readonly seconds: number;
  }[];
  readonly lost: readonly {
    readonly kind: string;
    readonly subject: string;
    readonly losses: number;
    readonly status: string;
  }[];
  readonly queues: readonly {
    readonly queue: string;
    readonly visible: number | null;
    readonly in_flight: number | null;
    readonly delayed: number | null;
    readonly error: string | null;
  }[];
  readonly sweeps: readonly {
    readonly sweep: string;
    readonly interval_seconds: number;
    readonly outcome: string | null;
    readonly success_seconds_ago: number | null;
    readonly counts: Readonly<Record<string, number>>;
    readonly overdue: boolean;
  }[];
  /** Of each minute of the last hour, oldest first. */
  readonly minutes: {
    readonly stored: readonly number[];
    readonly failed: readonly number[];
    readonly jobs: readonly number[];
  };
  readonly actions: readonly {
    readonly id: string;
    readonly at: string;
    readonly actor: string;
    readonly action: string;
    readonly subject: string | null;
    readonly reason: string;
    readonly outcome: string | null;
  }[];
  readonly kinds: readonly {
    readonly kind: string;
    /** null: it is not paused. */
    readonly paused_at: string | null;
    readonly paused_by: string | null;
    readonly pause_reason: string | null;
  }[];
  readonly blocks: readonly {
    readonly content_hash: string;
    readonly class: string;
    readonly reason: string;
    readonly actor: string;
  }[];
}

/**
 * How the system is: first what is going on, and what needs a person. The part `live` is replaced by the browser module every few
 * seconds while the page is in view.
 */
export function overviewPage(site: OperationsSite, overview: ShownOverview): string {
  const { stored, failed, jobs } = overview.minutes;
  return operationsPage(site, {
    title: words.overview,
    place: 'overview',
    scripts: ['operations.js'],
    main: html`<h1>${words.overview}</h1>
<div id="live">
<dl class="facts">${overview.glance.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
${needsPart(site, overview)}
<div class="charts">${smallChart(words.stored, 'good', stored)}${smallChart(words.failed, 'bad', failed)}${smallChart(words.jobs, 'busy', jobs)}</div>
<p class="hint">${words.chartsHint}</p>
${stuckPart(site, overview)}
<h2>${words.states}</h2>
${statesTable(overview)}
<h2>${words.queues}</h2>
${queuesTable(overview)}
<h2>${words.kinds}</h2>
${kindsTable(site, overview)}
<h2>${words.actions}</h2>
${actionsPart(site, overview)}
<h2>${words.blocks}</h2>
${blocksPart(site, overview)}
${sweepsPart(site, overview)}
</div>`,
  });
}

function needsPart(site: OperationsSite, { at, isStale, needs }: ShownOverview): HtmlValue {
  const read = words.readAt(at.slice(0, 19).replace('T', ' '));
  if (needs.length === 0 && !isStale)
    return html`<p class="good-news" role="status">${words.nothingNeeded}</p>\n<p class="hint">${read}</p>`;
  const rows = needs.map(
    ({ text, page, action }) =>
      html`<li><div><p><bdi>${text}</bdi></p></div>${page !== null && html`<a class="button" href="${site.base}${page}">${words.show}</a>`}
${action !== null && actionLink(site, { action: action.name, subject: action.subject, label: action.label })}</li>\n`,
  );
  return html`${rows.length > 0 && html`<div role="status"><h2>${words.needs(rows.length)}</h2></div>\n<ul class="rows needs">\n${rows}</ul>`}
<p class="${isStale ? 'bad-news' : 'hint'}">${read}${isStale && ` ${words.stale}`}</p>`;
}

function stuckPart(site: OperationsSite, { stuck, lost }: ShownOverview): HtmlValue {
  const stuckRows = stuck.map(({ what, kind, subject, attempt, worker_id, seconds }) =>
    row([
      what,
      plain(kind),
      subjectLink(site, subject),
      attempt,
      formatDuration(seconds * 1000, en),
      worker_id,
    ]),
  );
  const lostRows = lost.map(({ kind, subject, losses, status }) =>
    row([plain(kind), subjectLink(site, subject), losses, plain(status)]),
  );
  return [
    stuck.length > 0 &&
      html`<h2>${words.stuck}</h2>${table(words.stuck, ['What', 'Kind', 'Code or id', 'Attempt', 'For', 'Worker'], stuckRows)}`,
    lost.length > 0 &&
      html`<h2>${words.lost}</h2>${table(words.lost, ['Kind', 'Code or id', 'Losses', 'Status'], lostRows)}`,
  ];
}

/** Only the states in which something is. */
function statesTable({ states }: ShownOverview): Html {
  const rows = states
    .filter(({ count }) => count > 0)
    .map(({ machine, state, oldest_seconds, ...counted }) =>
      row([plain(machine), plain(state), countText(counted), seconds(oldest_seconds)]),
    );
  return table(words.states, ['What', 'State', 'Count', 'Oldest'], rows);
}

function queuesTable({ queues }: ShownOverview): Html {
  const rows = queues.map(({ queue, visible, in_flight, delayed, error }) =>
    row([
      queue,
      queue.endsWith('-dead-letters') ? deadLetters(visible) : (visible ?? '–'),
      in_flight ?? '–',
      delayed ?? '–',
      error,
    ]),
  );
  return table(words.queues, ['Queue', 'Visible', 'In flight', 'Delayed', 'Error'], rows);
}

/** A dead letter waits for an operator. */
function deadLetters(count: number | null): HtmlValue {
  if (count === null) return '–';
  return count === 0 ? 0 : html`<strong class="bad-news">${formatNumber(count, en)}</strong>`;
}

function kindsTable(site: OperationsSite, { kinds }: ShownOverview): Html {
  const rows = kinds.map(({ kind, paused_at, paused_by, pause_reason }) =>
    row([
      kind,
      paused_at === null
        ? words.runs
        : html`<strong class="bad-news">${words.pausedSince(paused_at.slice(0, 19).replace('T', ' '))}</strong>`,
      paused_by,
      html`<bdi>${pause_reason}</bdi>`,
      paused_at === null
        ? actionLink(site, { action: 'pause', subject: kind, label: words.pause(kind) })
        : actionLink(site, { action: 'resume', subject: kind, label: words.resume(kind) }),
    ]),
  );
  return table(words.kinds, ['Kind', 'State', 'By', 'Reason', 'Action'], rows);
}

/** They run by themselves: one that is overdue is among the needs. */
function sweepsPart(site: OperationsSite, { sweeps }: ShownOverview): Html {
  const rows = sweeps.map(({ sweep, interval_seconds, outcome, success_seconds_ago, counts, overdue }) => {
    const last = success_seconds_ago === null ? words.never : words.ago(seconds(success_seconds_ago) ?? '');
    const found = Object.entries(counts).filter(([, count]) => count > 0);
    return row([
      html`${words.sweepDoes[sweep]} <span class="hint">${sweep}</span>`,
      seconds(interval_seconds),
      overdue ? html`${last} <strong class="bad-news">${words.overdue}</strong>` : last,
      outcome ?? words.never,
      found.map(([name, count]) => `${plain(name)} ${formatNumber(count, en)}`).join(', '),
      actionLink(site, { action: 'run-sweep', subject: sweep, label: words.runNow(sweep) }),
    ]);
  });
  const late = sweeps.filter(({ overdue }) => overdue).length;
  return html`<details id="sweeps"><summary><h2>${words.sweeps}</h2> ${words.sweepsOverdue(late)}</summary>
${table(words.sweeps, ['Sweep', 'Every', 'Last success', 'Last run', 'Counts', 'Action'], rows)}
</details>`;
}

function blocksPart(site: OperationsSite, { blocks }: ShownOverview): Html {
  if (blocks.length === 0) return html`<p>${words.noBlocks}</p>`;
  const rows = blocks.map(({ content_hash, class: why, reason, actor }) =>
    row([
      html`<code>${content_hash}</code>`,
      plain(why),
      html`<bdi>${reason}</bdi>`,
      actor,
      actionLink(site, { action: 'unblock', subject: content_hash, label: words.unblock }),
    ]),
  );
  return table(words.blocks, ['Content', 'Class', 'Reason', 'By', 'Action'], rows);
}

function actionsPart({ base }: OperationsSite, { actions }: ShownOverview): Html {
  if (actions.length === 0) return html`<p>${words.noActions}</p>`;
  const rows = actions.map(({ id, at, actor, action, subject, reason, outcome }) =>
    row([
      html`<a href="${base}/actions/${id}">${at.slice(0, 19).replace('T', ' ')}</a>`,
      actor,
      `${plain(action)} ${subject ?? ''}`,
      html`<bdi>${reason}</bdi>`,
      outcome ?? words.running,
    ]),
  );
  return table(words.actions, [words.at, words.by, words.what, words.reason, words.outcome], rows);
}

function subjectLink({ base }: OperationsSite, subject: string): Html {
  return html`<a href="${base}/find?q=${encodeURIComponent(subject)}">${subject}</a>`;
}

function seconds(value: number | null): string | null {
  return value === null ? null : formatDuration(value * 1000, en);
}

/** `NOT_EXPIRED` in words: `not expired`. */
export function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[_-]/g, ' ');
}

const WIDTH = 300;
const HEIGHT = 64;

/**
 * The numbers of each minute as bars, the newest at the right. The scale is that of the greatest number.
 * @param values at most 60, oldest first
 */
function smallChart(name: string, kind: 'good' | 'bad' | 'busy', values: readonly number[]): Html {
  const peak = Math.max(0, ...values);
  const step = WIDTH / 60;
  const first = 60 - values.length;
  const bars = values.map((value, index) => {
    if (value === 0) return null;
    const height = Math.max(2, (value / peak) * (HEIGHT - 4));
    return html`<rect class="${kind}" x="${((first + index) * step).toFixed(1)}" y="${(HEIGHT - height).toFixed(1)}"
width="${(step - 1).toFixed(1)}" height="${height.toFixed(1)}"></rect>`;
  });
  const summary = words.peak(String(Math.round(peak)));
  return html`<figure class="small-chart"><svg class="timeline" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img"
aria-label="${name}: ${summary}">${bars}<line class="base" x1="0" y1="${HEIGHT - 0.5}" x2="${WIDTH}"
y2="${HEIGHT - 0.5}"></line></svg>
<figcaption>${name} <span class="hint">${summary}</span></figcaption></figure>`;
}
