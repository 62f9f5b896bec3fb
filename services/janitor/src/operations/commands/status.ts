import {
  asJson,
  formatDuration,
  formatMillisecond,
  formatTable,
  succeeded,
  toOneLine,
} from '@pasteflow/service-kit';
import { glanceOf } from '../reports/glance.ts';
import { needsOf } from '../reports/needs.ts';
import { readStatus, type Status } from '../reports/read-status.ts';
import type { OwnCommand } from './command.ts';

export const status: OwnCommand = {
  name: 'status',
  help: 'shows what there is and what failed, what needs a person, states, ages, stuck work, queues and sweeps',
  run: async (operations, { json }) => {
    const read = await readStatus(operations);
    return succeeded(json ? asJson({ needs: needsOf(read), ...read }) : statusText(read));
  },
};

/** First what is going on, then what needs a person, and tables: FAILED uploads, stuck work, work that was lost often, and figures. */
function statusText(shown: Status): string {
  const sections = [
    `Pasteflow at ${formatMillisecond(shown.at)}\n`,
    glanceText(shown),
    needsText(shown),
    ...(shown.failed.length === 0 ? [] : [failedText(shown)]),
    ...(shown.stuck.length === 0 ? [] : [stuckText(shown)]),
    ...(shown.lost.length === 0 ? [] : [lostText(shown)]),
    ...(shown.sweeps.every(({ refused }) => refused.length === 0) ? [] : [refusedText(shown)]),
    ...(shown.kept_versions === null ? [] : [`${shown.kept_versions}\n`]),
    statesText(shown),
    queuesText(shown),
    sweepsText(shown),
  ];
  return sections.join('\n');
}

function glanceText(shown: Status): string {
  const lines = glanceOf(shown);
  const width = Math.max(...lines.map(([name]) => name.length));
  return lines.map(([name, value]) => `${name.padEnd(width)}  ${value}\n`).join('');
}

function needsText(shown: Status): string {
  const needs = needsOf(shown);
  if (needs.length === 0) return 'Nothing needs a person.\n';
  const lines = needs.map(({ text, command }) => `- ${text}.\n${command === null ? '' : `    ${command}\n`}`);
  return `Needs a person:\n${lines.join('')}`;
}

function failedText({ failed }: Status): string {
  const rows = failed.map(({ reason, count, oldest_at: oldest, newest_at: newest }) => [
    String(count),
    formatMillisecond(oldest),
    formatMillisecond(newest),
    toOneLine(reason),
  ]);
  return formatTable(['>FAILED UPLOADS', 'FIRST', 'LAST', 'WHY'], rows);
}

function stuckText({ stuck, zombies, stranded, unsent, ahead }: Status): string {
  const rows = stuck.map(({ what, kind, subject, attempt, worker_id, seconds }) => [
    what,
    kind,
    subject,
    attempt === null ? '-' : String(attempt),
    formatDuration(seconds),
    worker_id ?? '-',
  ]);
  const counted = Object.keys(zombies).map(
    (kind) =>
      `${kind}s: ${zombies[kind]} zombies, ${stranded[kind]} stranded, ${unsent[kind]} unsent, ${ahead[kind]} ahead`,
  );
  const table = formatTable(['STUCK', 'KIND', 'CODE OR ID', '>ATTEMPT', '>FOR', 'WORKER'], rows);
  return `${table}Total: ${counted.join('; ')}.\n`;
}

/** Work that is lost again and again may kill the workers that run it. */
function lostText({ lost }: Status): string {
  const rows = lost.map(({ kind, subject, losses, status, run_at, worker_id }) => [
    subject,
    kind,
    String(losses),
    status,
    formatMillisecond(run_at),
    worker_id ?? '-',
  ]);
  return formatTable(['LOST REPEATEDLY', 'KIND', '>LOSSES', 'STATUS', 'DUE', 'WORKER'], rows);
}

/** Rows that stop no sweep, and that none can change. */
function refusedText({ sweeps }: Status): string {
  const rows = sweeps.flatMap(({ sweep, refused }) =>
    refused.map(({ row, error, failures }) => [row, sweep, String(failures), toOneLine(error)]),
  );
  return formatTable(['REFUSED BY POSTGRES', 'SWEEP', '>TIMES', 'ERROR'], rows);
}

/** Only the states in which something is. */
function statesText({ states }: Status): string {
  const rows = states
    .filter(({ count }) => count > 0)
    .map(({ machine, state, count, approximate, oldest_seconds }) => [
      machine,
      state,
      `${approximate ? '~' : ''}${count}`,
      formatDuration(oldest_seconds),
    ]);
  return formatTable(['MACHINE', 'STATE', '>COUNT', '>OLDEST'], rows);
}

function queuesText({ queues }: Status): string {
  const rows = queues.map(({ queue, visible, in_flight, delayed, error }) => [
    queue,
    String(visible ?? '-'),
    String(in_flight ?? '-'),
    String(delayed ?? '-'),
    error ?? '',
  ]);
  return formatTable(['QUEUE', '>VISIBLE', '>IN FLIGHT', '>DELAYED', ''], rows);
}

function sweepsText({ at, sweeps }: Status): string {
  const rows = sweeps.map(
    ({ sweep, interval_seconds, outcome, last_success_at, seconds, counts, overdue }) => [
      sweep,
      formatDuration(interval_seconds),
      last_success_at === null
        ? 'never'
        : `${formatDuration(Math.max(0, (at.getTime() - last_success_at.getTime()) / 1000))} ago`,
      `${outcome ?? 'never'}${overdue ? ', OVERDUE' : ''}`,
      formatDuration(seconds),
      toOneLine(
        Object.entries(counts)
          .filter(([, count]) => count > 0)
          .map(([name, count]) => `${name} ${count}`)
          .join(', '),
      ),
    ],
  );
  return formatTable(['SWEEP', '>EVERY', '>LAST SUCCESS', 'LAST RUN', '>DURATION', 'COUNTS'], rows);
}
