import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

const root = new URL('../../', import.meta.url).pathname;
const ADVISORY = 'GHSA-aaaa-bbbb-cccc';

let folder: string;
let registry: Server;
let answer: { status: number; body: string };
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'pasteflow-audit-'));
  const folders = ['', 'infra/', 'site/'];
  for (const file of ['scripts/audit.ts', ...folders.flatMap((each) => LOCKED.map((name) => each + name))])
    cpSync(root + file, join(folder, file));
  registry = createServer((request, response) => {
    request.resume();
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(answer.body);
  }).listen(0, '127.0.0.1');
  await once(registry, 'listening');
});
afterEach(async () => {
  rmSync(folder, { recursive: true, force: true });
  registry.close();
  registry.closeAllConnections();
});
const LOCKED = ['package.json', 'pnpm-lock.yaml', 'pnpm-workspace.yaml'];

function advisoryOf(severity: string): void {
  const advisory = {
    id: 1,
    url: `https://github.com/advisories/${ADVISORY}`,
    title: 'A hole',
    severity,
    vulnerable_versions: '<1000.0.0',
    cwe: [],
    cvss: { score: 0, vectorString: null },
  };
  answer = { status: 200, body: JSON.stringify({ typescript: [advisory] }) };
}

async function audit(
  exceptions: readonly object[],
  ...args: string[]
): Promise<{ code: number; output: string }> {
  writeFileSync(join(folder, 'scripts/audit-exceptions.json'), JSON.stringify(exceptions));
  const { port } = registry.address() as AddressInfo;
  const env = {
    ...process.env,
    PATH: `${root}node_modules/.bin:${process.env['PATH']}`,
    pnpm_config_registry: `http://127.0.0.1:${port}/`,
  };
  return await new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [join(folder, 'scripts/audit.ts'), ...args],
      { env },
      (_, out, errors) => resolve({ code: child.exitCode ?? -1, output: out + errors }),
    );
  });
}

describe('audit', () => {
  it.each(['high', 'critical'])('fails for an advisory of severity %s, and names it', async (severity) => {
    advisoryOf(severity);
    const { code, output } = await audit([]);
    expect(output).toContain(`typescript: ${severity}: A hole (${ADVISORY})`);
    expect(code).toBe(1);
  });

  it('passes for a moderate one, and for one with an exception that has not expired', async () => {
    advisoryOf('moderate');
    expect(await audit([], '--required')).toMatchObject({ code: 0 });
    advisoryOf('high');
    expect(await audit([{ advisory: ADVISORY, reason: 'not reached', until: '2999-12-31' }])).toMatchObject({
      code: 0,
    });
  });

  it.each([
    [{ reason: 'not reached', until: '2020-01-01' }, 'expired on 2020-01-01'],
    [{ reason: ' ', until: '2999-12-31' }, 'has no reason'],
    [{ until: '2999-12-31' }, 'has no reason'],
    [{ reason: 'not reached' }, 'has no day'],
    [{ reason: 'not reached', until: 'never' }, 'has no day'],
  ])('fails for the exception %j', async (exception, problem) => {
    advisoryOf('moderate');
    const { code, output } = await audit([{ advisory: ADVISORY, ...exception }]);
    expect(output).toContain(problem);
    expect(code).toBe(1);
  });

  it.each([
    { status: 405, body: '{}' },
    { status: 200, body: 'no JSON' },
  ])('without a verdict of the registry (%j) fails only where one is required', async (given) => {
    answer = given;
    const { code, output } = await audit([]);
    expect(output).toContain('NOT checked');
    expect(output).not.toContain('no advisory');
    expect(code).toBe(0);
    expect(await audit([], '--required')).toMatchObject({ code: 1 });
  });
});
