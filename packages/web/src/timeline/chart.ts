import { formatDuration } from '../html/formats.ts';
import { html, type Html } from '../html/html.ts';
import type { Words } from '../words/translation.ts';

/** Transitions, executions and retries as the API's timeline has them. The times are in ISO 8601. */
export interface ShownTimeline {
  readonly transitions: readonly {
    readonly machine: string;
    readonly entity: string;
    readonly from: string;
    readonly to: string;
    readonly at: string;
    readonly actor: string;
    /** A word for everybody. */
    readonly reason_class: string | null;
    /** A text for the owner. */
    readonly reason: string | null;
  }[];
  readonly executions: readonly {
    readonly id: string;
    readonly attempt: number;
    readonly status: 'PENDING' | 'RUNNING' | 'SUCCEEDED' | 'FAILED';
    readonly run_at: string;
    readonly created_at: string;
    readonly started_at: string | null;
    readonly finished_at: string | null;
    readonly error_class: string | null;
    readonly error: string | null;
  }[];
  /** The uploads of operators after this paste had FAILED, oldest first. */
  readonly retries: readonly {
    readonly at: string;
    readonly actor: string;
    readonly reason_class: string | null;
    readonly reason: string | null;
  }[];
}

/** In pixels of the drawing, which scales with the page. */
const WIDTH = 800;
const LABELS = 110;
const ROW = 30;
const BAR = 16;
const AXIS = 28;
const PLOT = WIDTH - LABELS - 12;

interface Bar {
  readonly startMs: number;
  readonly endMs: number;
  /** The class of its colour. */
  readonly kind: string;
  readonly label: string;
}

interface Row {
  readonly name: string;
  readonly bars: readonly Bar[];
}

/**
 * The states of a paste and the attempts at its upload over time, from its creation to the end of its upload,
 * or to `now` while the upload is in progress. A deletion weeks later would make everything else a point, so
 * that only the table has it.
 */
export function timelineChart(
  words: Words,
  timeline: ShownTimeline,
  createdAt: string,
  now: Date,
  of: keyof typeof subjects = 'paste',
): Html {
  const rows = rowsOf(words, timeline, subjects[of], Date.parse(createdAt), now.getTime());
  const times = rows.flatMap(({ bars }) => bars.flatMap(({ startMs, endMs }) => [startMs, endMs]));
  const startMs = Math.min(...times);
  const spanMs = Math.max(1, Math.max(...times) - startMs);
  const x = (ms: number): number => LABELS + ((ms - startMs) / spanMs) * PLOT;
  const height = rows.length * ROW + AXIS;
  return html`<svg class="timeline" viewBox="0 0 ${WIDTH} ${height}" direction="ltr" role="img" aria-label="${words.timeline.chart}">
${ticksOf(spanMs).map((ms) => tick(words, x(startMs + ms), height, formatDuration(ms, words)))}
${rows.map((row, index) => drawRow(words, row, index * ROW, x))}
</svg>`;
}

/** What the colours of the drawing mean. @param of a job ends in other states than a paste */
export function legend(words: Words, drawing: Html, of: keyof typeof subjects = 'paste'): Html {
  const { timeline: text } = words;
  const ends = {
    paste: [
      ['PROCESSED', 'SUCCEEDED'],
      ['FAILED', 'FAILED'],
    ],
    job: [
      ['completed', 'SUCCEEDED'],
      ['partial', 'failed', 'FAILED'],
    ],
  };
  const [done, failed] = ends[of].map((states) =>
    [...new Set(states.map((state) => stateName(words, state)))].join(', '),
  );
  const keys = [
    ['busy', text.running],
    ['waiting', text.waiting],
    ['good', done],
    ['bad', failed],
  ];
  const used = keys.filter(([kind]) => drawing.markup.includes(`<rect class="${kind}"`));
  return html`<figcaption class="legend">${used.map(([kind, name]) => html`<span><span class="key ${kind}"></span>${name}</span>\n`)}</figcaption>`;
}

/** A state as the page names it; of a machine that this page does not know, as the API does. */
export function stateName({ timeline, paste, job }: Words, state: string): string {
  const { waiting: PENDING, running: RUNNING, states } = timeline;
  const names = { ...job.states, ...paste.uploadStates, ...states, PENDING, RUNNING };
  return (names as Readonly<Record<string, string>>)[state] ?? state;
}

interface ChartedSubject {
  readonly name: 'paste' | 'job';
  readonly machine: string;
  /** The state that leads to the end. */
  readonly open: string;
}

const subjects = {
  paste: { name: 'paste', machine: 'paste_upload', open: 'IN_PROGRESS' },
  job: { name: 'job', machine: 'job', open: 'processing' },
} as const satisfies Readonly<Record<string, ChartedSubject>>;

function rowsOf(
  words: Words,
  timeline: ShownTimeline,
  { name, machine, open }: ChartedSubject,
  createdMs: number,
  nowMs: number,
): readonly Row[] {
  const { timeline: text } = words;
  const bars = statesOf(words, timeline, { machine, open }, createdMs, nowMs);
  const endMs = bars.at(-1)?.endMs ?? nowMs;
  const { executions, retries } = timeline;
  return [
    { name: text[name], bars },
    ...(retries.length === 0 ? [] : [{ name: text.retries, bars: retries.map(markOf) }]),
    ...executions.map((execution) => ({
      name: text.attempt(execution.attempt),
      bars: barsOf(words, execution, endMs),
    })),
  ];
}

/** One state until its end, or to now. With retries one for each upload: a retry begins a new one. */
function statesOf(
  words: Words,
  { transitions, retries }: ShownTimeline,
  { machine: wanted, open }: Pick<ChartedSubject, 'machine' | 'open'>,
  createdMs: number,
  nowMs: number,
): readonly Bar[] {
  const ends = transitions.filter(({ machine, from }) => machine === wanted && from === open);
  const starts =
    retries.length === 0
      ? [createdMs]
      : [startOf(transitions, createdMs), ...retries.map(({ at }) => Date.parse(at))];
  return starts.map((startMs, index) => {
    const end = ends[index];
    const state = end?.to ?? open;
    const endMs = end === undefined ? nowMs : Date.parse(end.at);
    return {
      startMs,
      endMs: Math.max(endMs, startMs),
      kind: kindOf(state),
      label: `${stateName(words, open)} → ${stateName(words, state)}`,
    };
  });
}

/**
 * The first time that is known of a paste: a retry replaces the row, and with it the time of its creation.
 */
export function startOf(transitions: ShownTimeline['transitions'], createdMs: number): number {
  return Math.min(createdMs, ...transitions.map(({ at }) => Date.parse(at)));
}

function markOf({ at, actor, reason, reason_class }: ShownTimeline['retries'][number]): Bar {
  const ms = Date.parse(at);
  return { startMs: ms, endMs: ms, kind: 'busy', label: `${actor}: ${reason ?? reason_class ?? ''}` };
}

/** An attempt waits from its creation to its start, and runs from its start to its end. */
function barsOf(words: Words, execution: ShownTimeline['executions'][number], nowMs: number): readonly Bar[] {
  const createdMs = Date.parse(execution.created_at);
  const startedMs = execution.started_at === null ? null : Date.parse(execution.started_at);
  const finishedMs = execution.finished_at === null ? null : Date.parse(execution.finished_at);
  const waitEndMs = startedMs ?? finishedMs ?? Math.max(nowMs, createdMs);
  const waiting: Bar = {
    startMs: createdMs,
    endMs: waitEndMs,
    kind: 'waiting',
    label: words.timeline.waiting,
  };
  if (startedMs === null) return [waiting];
  const label = execution.finished_at === null ? words.timeline.running : stateName(words, execution.status);
  const running: Bar = {
    startMs: startedMs,
    endMs: finishedMs ?? Math.max(nowMs, startedMs),
    kind: kindOf(execution.status),
    label,
  };
  return [waiting, running];
}

function kindOf(state: string): string {
  if (state === 'PROCESSED' || state === 'SUCCEEDED' || state === 'completed') return 'good';
  return state === 'FAILED' || state === 'failed' || state === 'partial' ? 'bad' : 'busy';
}

function drawRow(words: Words, { name, bars }: Row, top: number, x: (ms: number) => number): Html {
  const y = top + (ROW - BAR) / 2;
  return html`<text class="name" x="${LABELS - 10}" y="${top + ROW / 2 + 4}" text-anchor="end">${name}</text>
${bars.map((bar) => drawBar(words, bar, y, x))}
`;
}

/** Every bar can be seen: a state of a millisecond in a span of half a minute is two pixels wide. */
function drawBar(
  words: Words,
  { startMs, endMs, kind, label }: Bar,
  y: number,
  x: (ms: number) => number,
): Html {
  const width = Math.max(2, x(endMs) - x(startMs));
  return html`<rect class="${kind}" x="${x(startMs).toFixed(1)}" y="${y}" width="${width.toFixed(1)}" height="${BAR}" rx="3"><title>${label}: ${formatDuration(endMs - startMs, words)}</title></rect>`;
}

function tick({ direction }: Words, x: number, height: number, label: string): Html {
  return html`<line class="grid" x1="${x.toFixed(1)}" y1="0" x2="${x.toFixed(1)}" y2="${height - AXIS}"></line><text class="tick" direction="${direction}" x="${x.toFixed(1)}" y="${height - 8}" text-anchor="middle">${label}</text>
`;
}

/** Four to eight times at a round distance. */
export function ticksOf(spanMs: number): readonly number[] {
  const rough = spanMs / 5;
  const magnitude = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * magnitude).find((each) => each >= rough) ?? rough;
  const ticks: number[] = [];
  for (let ms = 0; ms <= spanMs; ms += step) ticks.push(ms);
  return ticks;
}
