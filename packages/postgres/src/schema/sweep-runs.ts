/** The last run of each sweep that was not skipped, on any janitor. */
export interface SweepRunsTable {
  sweep: string;
  started_at: Date;
  ended_at: Date;
  outcome: 'done' | 'failed';
  /** When the last successful run ended; NULL: no run was successful. */
  last_success_at: Date | null;
  seconds: number;
  counts: Record<string, number>;
  /** The instance that ran the sweep. */
  janitor: string;
}
