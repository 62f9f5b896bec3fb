import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { extract, pack } from 'tar-stream';

/**
 * The package of the command line client with the address of this server, which the client then uses unless
 * another one is named. The same input gives the same bytes on every api.
 */
export async function packageOfServer(packed: Buffer, server: string): Promise<Buffer> {
  const entries = extract();
  const output = pack();
  const unpacking = pipeline(Readable.from([packed]), createGunzip(), entries);
  const packing = buffer(output.pipe(createGzip()));
  for await (const entry of entries) output.entry(entry.header, await buffer(entry));
  await unpacking;
  output.entry({ name: 'package/server.json', mtime: new Date(0) }, JSON.stringify({ server }));
  output.finalize();
  return await packing;
}
