import type { Counted } from '@pasteflow/postgres';
import { formatBytes, formatDuration } from '@pasteflow/service-kit';
import { atLeast, grouped } from './counted.ts';
import type { Status } from './read-status.ts';

/** What is going on, in a few words: names and values, in the order in which the command line and the page show them. */
export function glanceOf({ glance }: Status): readonly (readonly [name: string, value: string])[] {
  const { pastes, bytes, created_per_minute: created, oldest_waiting: oldest, failed } = glance;
  return [
    ['Pastes', `${about(pastes, grouped)}, ${about(bytes, formatBytes)}`],
    ['Created', `${perMinute(created)} a minute`],
    [
      'Oldest waiting',
      oldest === null ? 'none' : `${oldest.kind}, due for ${formatDuration(oldest.seconds)}`,
    ],
    [
      'Failed in a day',
      [
        many(failed.uploads, 'upload', 'uploads'),
        many(failed.jobs, 'job', 'jobs'),
        many(failed.deliveries, 'delivery', 'deliveries'),
      ].join(', '),
    ],
    ['Reads', 'in the metrics of each api: http_request_duration_seconds'],
  ];
}

/** `~1.2 GiB` for an estimate. */
function about({ count, approximate }: Counted, write: (count: number) => string): string {
  return `${approximate ? '~' : ''}${write(count)}`;
}

/** `1 job`, `10,000+ jobs` */
function many(found: Counted, one: string, several: string): string {
  return `${atLeast(found)} ${found.count === 1 ? one : several}`;
}

/** Small rates with a digit behind the point: `0.4`. */
function perMinute(rate: number): string {
  return rate < 10 ? String(Math.round(rate * 10) / 10) : String(Math.round(rate));
}
