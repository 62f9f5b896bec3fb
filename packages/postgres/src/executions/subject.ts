import type { ClaimableSubject, ClaimedExecution } from './claim.ts';
import type { DispatchableSubject } from './dispatch.ts';
import type { LeasedSubject } from './leases.ts';
import type { RescuableSubject, StrandableSubject } from './rescue.ts';
import type { SettleableSubject, Settlement } from './settle.ts';

/** What the sweeps need to know about one kind of work: its joins, its columns, and its own end. */
export type SweptSubject<Named, Ending extends Settlement, State extends string> = SettleableSubject<
  Ending,
  State
> &
  LeasedSubject<Named> &
  StrandableSubject<Named> &
  RescuableSubject;

/** What one kind of work with a queue, uploads or jobs, contributes to the statements of this folder. */
export type ExecutionSubject<
  Named,
  Claimed extends ClaimedExecution & Named,
  Ending extends Settlement,
  State extends string,
  Message extends object,
> = SweptSubject<Named, Ending, State> & ClaimableSubject<Claimed> & DispatchableSubject<Message>;
