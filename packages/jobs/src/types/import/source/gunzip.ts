import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { inPieces } from '../../../content/in-pieces.ts';
import { SourceRefusedError } from './source-refused.ts';
import { InflationBudget } from './limits.ts';
import { isZero } from './tar-header.ts';

export const PIECE_BYTES = 64 * 1024;
const INFLATED_PIECE_BYTES = 256 * 1024;

/**
 * Decompresses a gzip. Several members in sequence are one stream (RFC 1952). Zeros after the last member are padding, as on tapes; any
 * other bytes after it are refused.
 */
export async function* gunzipInPieces(source: Buffer): AsyncGenerator<Buffer> {
  const budget = new InflationBudget(source.length);
  const gunzip = createGunzip({ chunkSize: INFLATED_PIECE_BYTES });
  pipeline(Readable.from(inPieces(source, PIECE_BYTES)), gunzip, () => {}); // the loop below throws its error
  for await (const piece of gunzip as AsyncIterable<Buffer>) {
    budget.spend(piece.length);
    yield piece;
  }
  if (!isZero(source.subarray(gunzip.bytesWritten)))
    throw new SourceRefusedError('it has other bytes after its gzip');
}
