import { pipeline, Readable } from 'node:stream';
import { createGzip } from 'node:zlib';
import { pack } from 'tar-stream';
import type { ArchiveFormat } from './archive-format.ts';
import { archivedName } from './file-name.ts';
import { feedArchive, untilDone } from './feed-archive.ts';

export const tarGz: ArchiveFormat = {
  extension: '.tar.gz',
  contentType: 'application/gzip',
  maxFiles: Number.POSITIVE_INFINITY,
  write: (files) => {
    const tar = pack();
    const gzip = createGzip();
    // The gzip stream reports the same errors. Without a listener the error event would end the process.
    tar.on('error', () => {});
    pipeline(Readable.from(tar), gzip, () => {});
    return feedArchive(gzip, async (closed) => {
      for await (const { paste, content } of files) {
        const header = {
          name: archivedName(paste),
          mtime: paste.createdAt,
          mode: 0o644,
          size: content.length,
        };
        await untilDone(closed, (done) => {
          tar.entry({ ...header, type: 'file' }, content, done).on('error', () => {});
        });
      }
      tar.finalize();
    });
  },
};
