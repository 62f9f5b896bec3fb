/** The last run of each sweep that wasn't skipped, whichever janitor ran it. */
export interface SweepRunsTable {
  sweep: string;
  started_at: Date;
  ended_at: Date;
  outcome: 'done' | 'failed';
  /** The end of the last run that ended well; NULL: none has. */
  last_success_at: Date | null;
  seconds: number;
  counts: Record<string, number>;
  /** The instance that ran it. */
  janitor: string;
}
