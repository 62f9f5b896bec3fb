import type { ClaimableSubject, ClaimedExecution } from './claim.ts';
import type { DispatchableSubject } from './dispatch.ts';
import type { LeasedSubject } from './leases.ts';
import type { RescuableSubject, StrandableSubject } from './rescue.ts';
import type { SettleableSubject, Settlement } from './settle.ts';

/**
 * What one kind of work, uploads or jobs, contributes to the statements of this folder: its joins, its
 * columns, and its own end.
 */
export type ExecutionSubject<
  Named,
  Claimed extends ClaimedExecution & Named,
  Ending extends Settlement,
  State extends string,
  Message extends object,
> = ClaimableSubject<Claimed> &
  SettleableSubject<Ending, State> &
  DispatchableSubject<Message> &
  LeasedSubject<Named> &
  StrandableSubject<Named> &
  RescuableSubject;
