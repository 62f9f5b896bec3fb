import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { inPieces } from '../../../content/in-pieces.ts';
import { SourceRefusedError } from './source-refused.ts';
import { InflationBudget } from './limits.ts';
import { isZero } from './tar-header.ts';

export const PIECE_BYTES = 64 * 1024;
const INFLATED_PIECE_BYTES = 256 * 1024;

/**
 * What a gzip holds. Several members one after the other are one stream, as RFC 1952 has it, and zeros behind the last are padding, as
 * tapes leave it; anything else behind it is refused.
 */
export async function* gunzipInPieces(source: Buffer): AsyncGenerator<Buffer> {
  const budget = new InflationBudget(source.length);
  const gunzip = createGunzip({ chunkSize: INFLATED_PIECE_BYTES });
  pipeline(Readable.from(inPieces(source, PIECE_BYTES)), gunzip, () => {}); // its error is that of the loop below
  for await (const piece of gunzip as AsyncIterable<Buffer>) {
    budget.spend(piece.length);
    yield piece;
  }
  if (!isZero(source.subarray(gunzip.bytesWritten)))
    throw new SourceRefusedError('it has something else behind its gzip');
}
