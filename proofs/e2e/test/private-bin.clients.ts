// `npm run proof -- privatebin`: PBinCLI, unchanged, against the running services.
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { startCluster, type Cluster } from '../src/index.ts';
import { PBinCli } from './support/pbincli.ts';

jest.setTimeout(600_000); // the first run installs PBinCLI

let cluster: Cluster;
let client: PBinCli;
beforeAll(async () => {
  cluster = await startCluster();
  client = await PBinCli.install(`${cluster.http().url}/`);
});
afterAll(async () => {
  await client?.remove();
  await cluster?.stop();
});

const textIn = (files: ReadonlyMap<string, Buffer>, id: string): string | undefined =>
  files.get(`paste-${id}.txt`)?.toString();

describe('PBinCLI', () => {
  it.each([
    ['a text', ['-t', 'Grüße <b> \u{1f511}'], []],
    ['a text with a password', ['-t', 'Grüße <b> \u{1f511}', '-p', 'pässword'], ['-p', 'pässword']],
    ['a text that is not compressed', ['-t', 'Grüße <b> \u{1f511}', '-c', 'none', '-F', 'markdown'], []],
    ['a text that never expires', ['-t', 'Grüße <b> \u{1f511}', '-E', 'never'], []],
  ])('sends %s and gets it back', async (_, args, reading) => {
    const sent = await client.send(args);
    expect(textIn(await client.get(sent.link, reading), sent.id)).toBe('Grüße <b> \u{1f511}');
    expect(await cluster.client().pastes.get(sent.id)).toMatchObject({ encrypted: true, title: null });
  });

  it('sends a file of a megabyte and gets its bytes back', async () => {
    const bytes = randomBytes(1_048_576);
    const file = join(client.folder, 'picture.png');
    await writeFile(file, bytes);
    const sent = await client.send(['-t', 'see the file', '-f', file]);
    const files = await client.get(sent.link);
    expect(textIn(files, sent.id)).toBe('see the file');
    expect(files.get('picture.png')?.equals(bytes)).toBe(true);
  });

  it('does not get a paste with another password or another key', async () => {
    const sent = await client.send(['-t', 'secret', '-p', 'right']);
    await expect(client.get(sent.link, ['-p', 'wrong'])).rejects.toThrow('MAC check failed');
    await expect(client.get(sent.link)).rejects.toThrow('MAC check failed');
  });

  it('deletes a paste with its token, and with no other', async () => {
    const sent = await client.send(['-t', 'to be deleted']);
    const wrong = await client.run([
      'delete',
      sent.deletelink.replace(/deletetoken=.*/, 'deletetoken=wrong'),
    ]);
    expect(wrong).toMatchObject({ code: 1, stderr: expect.stringContaining('Send the delete_token') });
    expect(await client.run(['delete', sent.deletelink])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('Paste successfully deleted!'),
    });
    await expect(client.get(sent.link)).rejects.toThrow('has expired or was deleted');
  });

  it('gets a paste that is deleted when it is read, once', async () => {
    const sent = await client.send(['-t', 'read me once', '-B']);
    expect(await cluster.client().pastes.get(sent.id)).toMatchObject({ encrypted: true, burn: true });
    expect(textIn(await client.get(sent.link), sent.id)).toBe('read me once');
    await expect(client.get(sent.link)).rejects.toThrow('could be read once, and was read');
  });

  it('prints why the server refuses a discussion', async () => {
    await expect(client.send(['-t', 'talk', '-D'])).rejects.toThrow('this service has no discussions');
  });
});
