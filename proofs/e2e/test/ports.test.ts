import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { expect, it } from '@jest/globals';

const PORTS = 120;
const MODULE = new URL('../src/ports.ts', import.meta.url).href;
const PROGRAM = `
  const { freePort } = await import(${JSON.stringify(MODULE)});
  console.log(JSON.stringify(await Promise.all(Array.from({ length: ${PORTS} }, () => freePort()))));
  process.stdin.resume();`;

it('processes that run side by side get different ports, although none of them is bound yet', async () => {
  const processes = [1, 2, 3].map(() =>
    spawn(process.execPath, ['--input-type=module', '--eval', PROGRAM], {
      stdio: ['pipe', 'pipe', 'inherit'],
    }),
  );
  const lists = await Promise.all(
    processes.map(async ({ stdout }) => {
      const [line] = (await once(createInterface(stdout), 'line')) as [string];
      return JSON.parse(line) as number[];
    }),
  );
  for (const { stdin } of processes) stdin.end();
  await Promise.all(processes.map((each) => once(each, 'close')));
  const ports = lists.flat();
  expect(ports).toHaveLength(3 * PORTS);
  expect(new Set(ports).size).toBe(3 * PORTS);
});
