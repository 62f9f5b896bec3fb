import { pasteUpload, statesOf } from '@pasteflow/domain';
import { mustBeOneOf } from '@pasteflow/service-kit';
import { z } from 'zod';
import { exportFormats } from './archive-formats.ts';

const time = (description: string) =>
  z.iso.datetime({ offset: true, error: 'must be an RFC 3339 time' }).optional().meta({ description });

/**
 * The parameters of an export. Each attempt parses the stored output again, so parsing an output must return
 * the same output.
 */
export const exportParameters = z
  .strictObject(
    {
      format: z.enum(exportFormats, mustBeOneOf(exportFormats)).default('zip').meta({
        description:
          'zip and tar.gz: one file for each paste, named after its short code and title. ndjson: one line for each paste, which an import can read.',
      }),
      created_after: time('Export pastes created at or after this time.'),
      created_before: time('Export pastes created before this time.'),
      status: z
        .enum(statesOf(pasteUpload), mustBeOneOf(statesOf(pasteUpload)))
        .optional()
        .meta({
          description:
            'Export pastes in this status. Default: pastes that have content. FAILED pastes have none: when requested, they are listed as missing.',
        }),
    },
    { error: (issue) => (issue.code === 'invalid_type' ? 'must be a JSON object' : undefined) },
  )
  .refine(
    ({ created_after: after, created_before: before }) =>
      after === undefined || before === undefined || Date.parse(after) < Date.parse(before),
    { path: ['created_before'], message: 'must be later than created_after' },
  );

export type ExportParameters = z.output<typeof exportParameters>;
