import { isUtf8 } from 'node:buffer';
import { Readable } from 'node:stream';
import type { ArchiveFormat, ExportedFile } from './archive-format.ts';
import { inPieces } from '../../../content/in-pieces.ts';

/** A multiple of 3, so that the base64 of a piece has no padding. */
const PIECE_BYTES = 48 * 1024;

export const ndjson: ArchiveFormat = {
  extension: '.ndjson',
  contentType: 'application/x-ndjson',
  maxFiles: Number.POSITIVE_INFINITY,
  write: (files) => Readable.from(lines(files), { objectMode: false }),
};

async function* lines(files: AsyncIterable<ExportedFile>): AsyncGenerator<Buffer> {
  for await (const file of files) {
    yield* line(file);
  }
}

/** One line for each paste, in pieces, because JSON escapes can make content six times as long. Content that is not UTF-8 is base64. */
function* line({ paste, content }: ExportedFile): Generator<Buffer> {
  const fields = {
    short_code: paste.shortCode,
    slug: paste.slug,
    title: paste.title,
    syntax: paste.syntax,
    encrypted: paste.encrypted,
    visibility: paste.visibility,
    created_at: paste.createdAt.toISOString(),
    expires_at: paste.expiresAt?.toISOString() ?? null,
    content_hash: paste.contentHash,
    size_bytes: paste.sizeBytes,
  };
  const isText = isUtf8(content);
  yield Buffer.from(`${JSON.stringify(fields).slice(0, -1)},"${isText ? 'content' : 'content_base64'}":"`);
  yield* isText ? escaped(content) : encoded(content);
  yield Buffer.from('"}\n');
}

function* escaped(content: Buffer): Generator<Buffer> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true }); // otherwise a BOM at the start would be lost
  for (const piece of inPieces(content, PIECE_BYTES))
    yield Buffer.from(JSON.stringify(decoder.decode(piece, { stream: true })).slice(1, -1));
}

function* encoded(content: Buffer): Generator<Buffer> {
  for (const piece of inPieces(content, PIECE_BYTES)) yield Buffer.from(piece.toString('base64'));
}
