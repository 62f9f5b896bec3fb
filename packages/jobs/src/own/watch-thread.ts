import { url as debuggerUrl } from 'node:inspector';
import { Worker } from 'node:worker_threads';
import type { Log } from '@pasteflow/job';

const EVENT = 'pasteflow:thread-blocked';

/**
 * Runs in a thread of its own, since the main one can't watch itself. Checks are counted, not seconds, so that a
 * process that was stopped and continued is not taken for a blocked one. The inspector interrupts even a loop.
 */
const WATCHER = `
  const { Session } = require('node:inspector');
  const { workerData: { beats, checks, everyMs } } = require('node:worker_threads');
  let seen = 0;
  let missed = 0;
  setInterval(() => {
    const now = Atomics.load(beats, 0);
    missed = now === seen ? missed + 1 : 0;
    seen = now;
    if (missed < checks) return;
    missed = 0;
    const session = new Session();
    session.connectToMainThread();
    session.post('Runtime.evaluate', { expression: "process.emit('${EVENT}')" });
  }, everyMs);
`;

/**
 * Ends the process, after a line of the log with the stack, when code keeps its thread for `seconds`: leases are not
 * renewed meanwhile, and uploads wait. A supervisor starts the process again.
 */
export function watchThread(seconds: number, file: string, log: Log): void {
  const everyMs = Math.min(1000, seconds * 100);
  const beats = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  setInterval(() => Atomics.add(beats, 0, 1), everyMs).unref();
  process.on(EVENT, () => {
    if (debuggerUrl() !== undefined) return; // which may hold the thread at a breakpoint
    log.warn('own job types keep the thread; process exiting', { file, error: new Error('kept the thread') });
    process.exit(1);
  });
  const checks = Math.ceil((seconds * 1000) / everyMs);
  new Worker(WATCHER, { eval: true, workerData: { beats, checks, everyMs } }).unref();
}
