import { stateDurationBounds, type StateFigures, type TransitionStatistic } from '@pasteflow/postgres';
import type { Sample } from '@pasteflow/runtime';

export function transitionSamples(statistics: readonly TransitionStatistic[]): Sample[] {
  return statistics.map(({ machine, from, to, count }) => ({ labels: { machine, from, to }, value: count }));
}

/** The time spent in a state, for each state that was left. The next state doesn't matter. */
export function durationSamples(statistics: readonly TransitionStatistic[]): Sample[] {
  const states = Map.groupBy(statistics, ({ machine, from }) => `${machine} ${from}`);
  return [...states.values()].flatMap((leaving) => {
    const [{ machine, from: state }] = leaving as [TransitionStatistic];
    const sum = (of: (each: TransitionStatistic) => number) =>
      leaving.reduce((total, each) => total + of(each), 0);
    const buckets = [...stateDurationBounds, '+Inf'].map((bound, index): Sample => ({
      suffix: '_bucket',
      labels: { le: String(bound), machine, state },
      value: sum(({ buckets: counts }) => counts[index] ?? 0),
    }));
    return [
      ...buckets,
      { suffix: '_sum', labels: { machine, state }, value: sum(({ seconds }) => seconds) },
      { suffix: '_count', labels: { machine, state }, value: buckets.at(-1)?.value ?? 0 },
    ];
  });
}

export function entitySamples({ states }: StateFigures, livePastes: number): Sample[] {
  return [
    ...states.map(({ machine, state, count }) => ({ labels: { machine, state }, value: count })),
    { labels: { machine: 'paste_deletion', state: 'NOT_EXPIRED' }, value: livePastes },
  ];
}

/** 0 when nothing is in the state, so that a graph continues when the last entity leaves. */
export function ageSamples({ states }: StateFigures): Sample[] {
  return states.map(({ machine, state, oldestSeconds }) => ({
    labels: { machine, state },
    value: oldestSeconds ?? 0,
  }));
}
