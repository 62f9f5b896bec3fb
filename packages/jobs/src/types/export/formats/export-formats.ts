import type { ArchiveFormat } from './archive-format.ts';
import { ndjson } from './ndjson.ts';
import { tarGz } from './tar-gz.ts';
import { zip } from './zip.ts';

/** As clients name them. */
export const exportFormats = ['zip', 'tar.gz', 'ndjson'] as const;
export type ExportFormat = (typeof exportFormats)[number];

export const archiveFormats: Readonly<Record<ExportFormat, ArchiveFormat>> = { zip, 'tar.gz': tarGz, ndjson };
