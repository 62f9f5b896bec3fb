import type { Cluster } from '../cluster.ts';
import type { StackProcess } from '../stacks.ts';
import type { Debugger } from './debugger.ts';

/** A leak that is planted to see that it is found: `npm run proof -- soak --leak memory`. */
export interface Leak {
  /** The measures that grow. */
  readonly grows: RegExp;
  /** Added to the environment of every service. */
  readonly env?: Readonly<Record<string, string>>;
  /** May return what ends the leak. */
  readonly plant?: (cluster: Cluster<StackProcess>, api: Debugger) => Promise<(() => Promise<void>) | void>;
}

/** Runs a statement at each request that the api gets. */
const atEachRequest = (statement: string) => (_: unknown, api: Debugger) =>
  api.run(`{
    const { Server } = process.getBuiltinModule('http');
    const { emit } = Server.prototype;
    const kept = [];
    Server.prototype.emit = function (event, ...rest) {
      if (event === 'request') ${statement};
      return emit.call(this, event, ...rest);
    };
  }`);

export const leaks: Readonly<Record<string, Leak>> = {
  memory: {
    grows: /^api: live heap/,
    plant: atEachRequest('kept.push([rest[0].headers, Buffer.alloc(4096)])'),
  },
  files: {
    grows: /^api: open files/,
    plant: atEachRequest(`if (kept.push(0) % 5 === 0) process.getBuiltinModule('fs').openSync('/dev/null')`),
  },
  rows: {
    grows: /^pastes: rows/,
    env: { SWEEP_INTERVALS: 'cleanup=1,jobs=2,erasures=2,expired-keys=2,reconcile=10' },
  },
  snapshot: { grows: /^all tables: dead rows/, plant: ({ rows }) => rows.holdSnapshot() },
};
