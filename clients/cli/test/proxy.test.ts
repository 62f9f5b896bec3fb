import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';

jest.setTimeout(120_000); // a process that starts on a busy machine

let onAsked: (target: string) => void = () => {};
const proxy = createServer((req, res) => {
  onAsked(req.url ?? '');
  res.writeHead(418).end();
}).on('connect', (req, socket) => {
  onAsked(req.url ?? '');
  socket.end();
});
let url: string;
beforeAll(async () => {
  await once(proxy.listen(0, '127.0.0.1'), 'listening');
  url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
});
afterAll(() => {
  proxy.closeAllConnections();
  proxy.close();
});

it.each([
  ['http://paste.invalid', 'HTTP_PROXY'],
  ['https://paste.invalid', 'HTTPS_PROXY'],
])('requests to %s go through the proxy of %s', async (server, variable) => {
  const asked = new Promise<string>((resolve) => {
    onAsked = resolve;
  });
  const main = fileURLToPath(new URL('../src/pasteflow-main.ts', import.meta.url));
  const child = spawn(
    process.execPath,
    ['--conditions=source', main, '--server', server, 'cat', 'q7Zk2Lm9Xa'],
    { env: { HOME: '/nonexistent', [variable]: url }, stdio: 'ignore' },
  );
  try {
    expect(await asked).toContain('paste.invalid');
  } finally {
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
});
