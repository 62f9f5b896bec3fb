import { pasteUpload, statesOf } from '@pasteflow/domain';
import { mustBeOneOf } from '@pasteflow/pastes';
import { z } from 'zod';
import { exportFormats } from './formats/export-formats.ts';

const time = (description: string) =>
  z.iso.datetime({ offset: true, error: 'must be a time of RFC 3339' }).optional().meta({ description });

/** Which pastes, and as what. Each attempt reads what is stored once more: it outputs what it takes. */
export const exportParameters = z
  .strictObject(
    {
      format: z.enum(exportFormats, mustBeOneOf(exportFormats)).default('zip').meta({
        description:
          'zip and tar.gz: a file a paste, named after its short code and title. ndjson: a line a paste, as an import takes it.',
      }),
      created_after: time('Of pastes made then or later.'),
      created_before: time('Of pastes made before then.'),
      status: z
        .enum(statesOf(pasteUpload), mustBeOneOf(statesOf(pasteUpload)))
        .optional()
        .meta({
          description:
            'Of pastes in this status. Without it those that have content: FAILED ones have none, and are missing where they are asked for.',
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
