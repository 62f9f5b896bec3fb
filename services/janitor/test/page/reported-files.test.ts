import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createHash } from 'node:crypto';
import { objectKeyOf, placedFiles } from '@pasteflow/domain';
import { reportPaste } from '@pasteflow/postgres';
import { makePastes } from '@pasteflow/postgres/testing';
import { sql } from 'kysely';
import { runOpsCommand } from '../../src/operations/commands/run-ops-command.ts';
import { createWorld, type World } from '../world.ts';
import { openPage, type OpenPage } from './open-page.ts';

let world: World;
let page: OpenPage;
beforeAll(async () => {
  world = await createWorld();
  page = await openPage(world);
});
afterAll(async () => {
  await page.stop();
  await world.stop();
});

it('reports name all files of a paste and show how each begins, and so does the command', async () => {
  const files = [
    { name: `${'a'.repeat(9)}.txt`, content: '<script>alert(1)</script>\n' },
    { name: 'tool', content: '\0\0\0' },
    { name: 'long.txt', content: 'x'.repeat(300_000) },
    { name: 'behind.txt', content: 'end' },
  ];
  const content = Buffer.from(files.map((each) => each.content).join(''));
  const [paste] = await makePastes(world.db, 1, { status: 'PROCESSED', content });
  const { id, shortCode: code } = paste!;
  const sha256 = createHash('sha256').update(content).digest();
  await world.store.put(objectKeyOf(code), content, { sha256 });
  const placed = placedFiles(
    files.map((each) => ({ name: each.name, size: Buffer.byteLength(each.content), syntax: null })),
  );
  await sql`UPDATE pastes SET files = ${JSON.stringify(placed)}::jsonb WHERE short_code = ${code}`.execute(
    world.db,
  );
  const report = { class: 'phishing', text: null, contact: null, reporter: 'a' } as const;
  expect(await reportPaste(world.db, id, report, null)).toBe('recorded');
  const { body } = await page.call(`/reports/${code}`);
  expect(body).toContain(`<h3><bdi>aaaaaaaaa.txt</bdi> <small>${placed[0]!.size} bytes</small></h3>`);
  expect(body).toContain(`<pre class="reported" tabindex="0">&lt;script&gt;alert(1)`);
  expect(body).toContain('<h3><bdi>tool</bdi> <small>3 bytes</small></h3>\n<p>The content is no text.</p>');
  expect(body).toContain('Only the beginning is shown.');
  expect(body).toContain(
    '<h3><bdi>behind.txt</bdi> <small>3 bytes</small></h3>\n<p>This file stands too far',
  );
  expect(body.match(/Download the content/g)).toHaveLength(1);
  expect((await page.call('/reports')).body).toContain('<span>4 files</span>');
  const { stdout } = await runOpsCommand(['reports', code], world.env);
  for (const { name } of files) expect(stdout).toContain(`File: ${name}, `);
  const confirm = await page.call(`/confirm/takedown?subject=${code}`);
  expect(confirm.body).toContain('This takes down 1 paste, with all of its 4 files.');
  expect((await page.call(`/pastes/${code}`)).body).toMatch(/<dt>Files<\/dt>\s*<dd><bdi>4</);
});
