import { sweepNames } from '../../sweep-names.ts';
import { Refused, type Action } from './action.ts';

/** The subject is the name of a sweep. `janitor --once` does it, too, with the sweeps of its own process. */
export const runSweep: Action = {
  name: 'run-sweep',
  title: 'Run the sweep',
  command: null,
  check: (_operations, name) =>
    Promise.resolve(
      sweepNames.some((each) => each === name)
        ? { count: 1, sentence: 'This runs 1 sweep now, unless it is running already.' }
        : null,
    ),
  do: async (operations, wanted, _by, { signal }) => {
    const name = sweepNames.find((each) => each === wanted);
    if (name === undefined) throw new Refused(`there is no sweep ${wanted}`);
    const counts = await operations.runSweep(name, signal);
    if (counts === null) return { outcome: 'The sweep was running already.', json: { skipped: 1 } };
    const found = Object.entries(counts).map(([count, value]) => `${count} ${value}`);
    // After an abort, the run may have ended before its last batch.
    const outcome = `${signal.aborted ? 'Stopped early' : 'Done'}: ${found.join(', ')}.`;
    return { outcome, json: counts };
  },
};
