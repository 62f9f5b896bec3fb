import { sql, type RawBuilder } from 'kysely';
import { strandedAmongOldest, type Strandable } from '../executions/rescue.ts';
import { jobSubject } from '../jobs/job-subject.ts';
import { uploadSubject } from '../pastes/upload-subject.ts';

/** A SELECT of stranded work, among the oldest work of each kind: `kind`, `subject_id`. */
export function strandedWork(): RawBuilder<unknown> {
  const ofKind = (subject: Strandable) => sql`
    SELECT * FROM (WITH ${strandedAmongOldest(subject)} SELECT ${sql.lit(subject.kind)} AS kind, id AS subject_id FROM stranded) AS stranded`;
  return sql.join([uploadSubject, jobSubject].map(ofKind), sql` UNION ALL `);
}
