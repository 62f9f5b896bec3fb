import { formatTime } from '../html/formats.ts';
import { html, table } from '../html/html.ts';
import { en } from '../words/en.ts';
import { operationsPage, row, type OperationsSite } from './layout.ts';
import { operationsWords as words } from './words.ts';

/** Times are in ISO 8601. */
interface ShownWorker {
  readonly worker: string;
  readonly uploads: number;
  readonly jobs: number;
  readonly deliveries: number;
  readonly overdue: number;
  readonly oldestAt: string;
  readonly leasedUntil: string;
}

interface ShownLease {
  readonly kind: string;
  /** A short code, or the id of a job or of a delivery. */
  readonly subject: string;
  readonly attempt: number;
  readonly startedAt: string;
  readonly leasedUntil: string;
}

/** The workers that hold leases. A process that holds none is not known here. */
export function workersPage(site: OperationsSite, workers: readonly ShownWorker[]): string {
  const rows = workers.map(({ worker, uploads, jobs, deliveries, overdue, oldestAt, leasedUntil }) =>
    row([
      html`<a href="${site.base}/workers?worker=${encodeURIComponent(worker)}">${worker}</a>`,
      uploads,
      jobs,
      deliveries,
      overdue === 0 ? 0 : html`<strong class="bad-news">${overdue}</strong>`,
      formatTime(oldestAt, en),
      formatTime(leasedUntil, en),
    ]),
  );
  const title = words.places.workers;
  const heads = ['Worker', 'Uploads', 'Jobs', 'Deliveries', 'Overdue', 'Oldest since', 'Leased until'];
  return operationsPage(site, {
    title,
    place: 'workers',
    main: html`<h1>${title}</h1>
${rows.length === 0 ? html`<p role="status">${words.noWorkers}</p>` : table(title, heads, rows)}`,
  });
}

/** What a worker is doing. */
export function workerPage(site: OperationsSite, worker: string, leases: readonly ShownLease[]): string {
  const rows = leases.map(({ kind, subject, attempt, startedAt, leasedUntil }) =>
    row([
      kind,
      html`<a href="${site.base}/find?q=${subject}">${subject}</a>`,
      attempt,
      formatTime(startedAt, en),
      formatTime(leasedUntil, en),
    ]),
  );
  return operationsPage(site, {
    title: worker,
    place: 'workers',
    main: html`<p><a href="${site.base}/workers">← ${words.allWorkers}</a></p>
<h1><bdi>${worker}</bdi></h1>
${rows.length === 0 ? html`<p role="status">${words.noLeases}</p>` : table(worker, ['Kind', 'Code or id', 'Attempt', 'Since', 'Leased until'], rows)}`,
  });
}
