import { beforeEach, describe, expect, it } from '@jest/globals';
import { RepeatedLosses } from '../src/sweeps/running/findings.ts';
import { RecordingLogger } from './recording-logger.ts';

let nowMs: number;
let log: RecordingLogger;
let losses: RepeatedLosses;
beforeEach(() => {
  nowMs = 0;
  log = new RecordingLogger();
  losses = new RepeatedLosses('job', log, () => nowMs);
});

const lost = (losses: number, ...names: string[]) => names.map((name) => ({ name, losses }));
const lines = () => log.lines.map(({ fields }) => fields);

describe('the log line of repeated losses', () => {
  it('names only the work that is now lost for at least the fourth time', () => {
    losses.recorded([...lost(0, 'a'), ...lost(2, 'b'), ...lost(3, 'c'), ...lost(4, 'd')]);
    expect(log.lines).toEqual([
      { level: 'error', message: 'jobs lost more than 3 times', fields: { count: 2, job_ids: ['c', 'd'] } },
    ]);
  });

  it('is written at most once a second, and the next line has what was left out', () => {
    for (const name of ['a', 'b', 'c']) losses.recorded(lost(3, name));
    nowMs = 999;
    losses.recorded(lost(3, 'd'));
    nowMs = 1000;
    losses.recorded(lost(0, 'ordinary'));
    expect(lines()).toEqual([{ count: 1, job_ids: ['a'] }]);
    losses.recorded(lost(3, 'e'));
    expect(lines()[1]).toEqual({ count: 4, job_ids: ['b', 'c', 'd', 'e'] });
  });

  it('names a hundred of many', () => {
    losses.recorded(lost(3, ...Array.from({ length: 500 }, (_, n) => String(n))));
    const [line] = lines();
    expect(line).toMatchObject({ count: 500 });
    expect(line!.job_ids).toHaveLength(100);
  });
});
