// The Postgres that the test files of a package share: prints its URL, and stops it at the end of stdin, which also
// comes when the run of the tests is killed.
import { once } from 'node:events';
import { startTestStack } from './test-stack.ts';

process.on('SIGINT', () => {}); // a Ctrl-C in the terminal ends the tests first
const stack = await startTestStack();
process.stdout.write(`${stack.postgres.url}\n`);
process.stdin.resume();
await once(process.stdin, 'end');
await stack.stop();
