import type { Counted } from '@pasteflow/postgres';
import { formatBytes, formatDuration } from '@pasteflow/service-kit';
import { counted, inDigits } from './counted.ts';
import type { Status } from './read-status.ts';

/** What is going on, in a few words: names and values, in the order in which the command line and the page show them. */
export function glanceOf({ glance }: Status): readonly (readonly [name: string, value: string])[] {
  const { pastes, bytes, created_per_minute: created, oldest_waiting: oldest, failed } = glance;
  return [
    ['Pastes', `${inDigits(pastes)}, ${inBytes(bytes)}`],
    ['Created', `${perMinute(created)} a minute`],
    [
      'Oldest waiting',
      oldest === null ? 'none' : `${oldest.kind}, due for ${formatDuration(oldest.seconds)}`,
    ],
    [
      'Failed in a day',
      [
        counted(failed.uploads.count, 'upload'),
        counted(failed.jobs.count, 'job'),
        `${inDigits(failed.deliveries)} ${failed.deliveries.count === 1 ? 'delivery' : 'deliveries'}`,
      ].join(', '),
    ],
    ['Reads', 'in the metrics of each api: http_request_duration_seconds'],
  ];
}

/** `~1.2 GiB` */
export function inBytes({ count, approximate }: Counted): string {
  return `${approximate ? '~' : ''}${formatBytes(count)}`;
}

/** Small rates with a digit behind the point: `0.4`. */
function perMinute(rate: number): string {
  return rate < 10 ? String(Math.round(rate * 10) / 10) : String(Math.round(rate));
}
