import { describe, expect, it } from '@jest/globals';
import { reasonClasses } from '@pasteflow/domain';
import { legend, ticksOf, timelineChart, type ShownTimeline } from '../src/timeline/chart.ts';
import { de } from '../src/words/de.ts';
import { en } from '../src/words/en.ts';
import { withEnglish } from '../src/words/words.ts';
import { attemptsTable, retriesTable, transitionsTable } from '../src/timeline/tables.ts';

const at = (ms: number) => new Date(Date.UTC(2026, 0, 1) + ms).toISOString();
const transition = {
  machine: 'paste_upload',
  entity: 'p',
  actor: 'worker',
  reason_class: null,
  reason: null,
};
const execution = { id: 'e', run_at: at(0), error_class: null, error: null };

describe('the drawing of a timeline', () => {
  it('shows how long each attempt waited and ran, until the upload ended', () => {
    const timeline: ShownTimeline = {
      retries: [],
      transitions: [{ ...transition, from: 'IN_PROGRESS', to: 'PROCESSED', at: at(3000) }],
      executions: [
        {
          ...execution,
          attempt: 1,
          status: 'FAILED',
          created_at: at(0),
          started_at: at(500),
          finished_at: at(1000),
        },
        {
          ...execution,
          attempt: 2,
          status: 'SUCCEEDED',
          created_at: at(1000),
          started_at: at(2000),
          finished_at: at(3000),
        },
      ],
    };
    const { markup } = timelineChart(en, timeline, at(0), new Date(at(900_000)));
    expect(
      [...markup.matchAll(/<rect class="(\w+)".*?<title>([^<]*)/g)].map(([, kind, title]) => [kind, title]),
    ).toEqual([
      ['good', 'in progress → stored: 3 sec'],
      ['waiting', 'waiting: 500 ms'],
      ['bad', 'failed: 500 ms'],
      ['waiting', 'waiting: 1 sec'],
      ['good', 'succeeded: 1 sec'],
    ]);
  });

  it('shows the failure before a retry, the retry, and the upload after it', () => {
    const timeline: ShownTimeline = {
      transitions: [
        {
          ...transition,
          entity: 'old',
          machine: 'task_execution',
          from: 'PENDING',
          to: 'RUNNING',
          at: at(0),
        },
        { ...transition, entity: 'old', from: 'IN_PROGRESS', to: 'FAILED', at: at(3000) },
        { ...transition, from: 'IN_PROGRESS', to: 'PROCESSED', at: at(9000) },
      ],
      executions: [],
      retries: [{ at: at(8000), actor: 'operator', reason_class: 'retried', reason: 'S3 is <b>back' }],
    };
    const { markup } = timelineChart(en, timeline, at(8000), new Date(at(900_000)));
    expect([...markup.matchAll(/<rect class="(\w+)".*?<title>([^<]*)/g)].map(([, ...each]) => each)).toEqual([
      ['bad', 'in progress → failed: 3 sec'],
      ['good', 'in progress → stored: 1 sec'],
      ['busy', 'operator: S3 is &lt;b&gt;back: 0 ms'],
    ]);
    expect(transitionsTable(en, timeline, at(8000)).markup).toContain('<td class="number">9 sec</td>');
    expect(retriesTable(en, timeline)).toMatchObject({
      markup: expect.stringContaining('S3 is &lt;b&gt;back'),
    });
    expect(retriesTable(en, { ...timeline, retries: [] })).toBe(false);
  });

  it('reaches to the present while the upload is in progress', () => {
    const timeline: ShownTimeline = {
      retries: [],
      transitions: [],
      executions: [
        {
          ...execution,
          attempt: 1,
          status: 'RUNNING',
          created_at: at(0),
          started_at: at(1000),
          finished_at: null,
        },
      ],
    };
    expect(timelineChart(en, timeline, at(0), new Date(at(5000))).markup).toContain('running: 4 sec');
  });

  it('has finite numbers only, also for a paste of this instant', () => {
    const { markup } = timelineChart(
      en,
      { transitions: [], executions: [], retries: [] },
      at(0),
      new Date(at(0)),
    );
    expect(markup).not.toMatch(/NaN|Infinity/);
  });
});

describe('the states of a timeline', () => {
  const timeline: ShownTimeline = {
    retries: [],
    transitions: [{ ...transition, from: 'IN_PROGRESS', to: 'PROCESSED', at: at(3000) }],
    executions: [
      {
        ...execution,
        attempt: 1,
        status: 'SUCCEEDED',
        created_at: at(0),
        started_at: at(1000),
        finished_at: at(3000),
      },
    ],
  };
  const words = withEnglish(de);
  const drawing = timelineChart(words, timeline, at(0), new Date(at(5000)));

  it('are in the language of the page', () => {
    const tables = transitionsTable(words, timeline, at(0)).markup + attemptsTable(words, timeline).markup;
    const shown = (drawing.markup + tables + legend(words, drawing).markup).replaceAll(/<[^>]*>/g, ' ');
    expect(shown).toContain('erfolgreich');
    expect(shown).not.toMatch(/[A-Z]{4}|_/);
  });

  it('have keys for the colours that the drawing has', () => {
    const keys = [...legend(words, drawing).markup.matchAll(/class="key (\w+)"/g)].map(([, kind]) => kind);
    expect(keys).toEqual(['waiting', 'good']);
  });
});

describe('the axis', () => {
  it.each([1, 42, 999, 31_000, 5_000_000])('has a few round steps for %d ms', (span) => {
    const ticks = ticksOf(span);
    expect(ticks.length).toBeGreaterThanOrEqual(2);
    expect(ticks.length).toBeLessThanOrEqual(8);
    expect(ticks[0]).toBe(0);
  });
});

it('the reasons of a table are in the language of the page, but for their texts', () => {
  expect(Object.keys(en.timeline.reasons)).toEqual([...reasonClasses]);
  const words = withEnglish(de);
  const markupOf = (reason_class: string | null, reason: string | null) =>
    transitionsTable(
      words,
      {
        retries: [],
        executions: [],
        transitions: [{ ...transition, from: 'IN_PROGRESS', to: 'FAILED', at: at(0), reason_class, reason }],
      },
      at(0),
    ).markup;
  expect(markupOf('storage_unavailable', null)).toContain('>Speicher nicht erreichbar</td>');
  expect(markupOf('worker_lost', 'worker lost')).toContain('>Worker verloren</td>');
  expect(markupOf('of_a_later_release', null)).toContain('>of a later release</td>');
  expect(markupOf('other', 'by hand')).toContain('><span lang="en">by hand</span></td>');
});
