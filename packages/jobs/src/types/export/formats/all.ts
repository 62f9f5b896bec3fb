import type { ArchiveFormat } from '../exported-file.ts';
import type { ExportFormat } from '../parameters.ts';
import { ndjson } from './ndjson.ts';
import { tarGz } from './tar-gz.ts';
import { zip } from './zip.ts';

export const formats: Readonly<Record<ExportFormat, ArchiveFormat>> = { zip, 'tar.gz': tarGz, ndjson };
