export interface BudgetLimits {
  /** For all callers of this process together. */
  readonly total: number;
  readonly perCaller: number;
}

/** Why an amount is not granted: all callers, or this one, hold too much. */
export type Refusal = 'total' | 'caller';

/**
 * An amount, of bytes or of slots, that the requests of a process share, so that their number has no
 * influence on the memory and the connections that they take. One caller gets only a part. Somebody who holds
 * nothing gets any amount while the budget (or the caller's part) is free: a request that is larger than the
 * limit must not be refused for ever.
 */
export class SharedBudget {
  readonly #limits: BudgetLimits;
  readonly #byCaller = new Map<string, number>();
  #used = 0;

  constructor(limits: BudgetLimits) {
    this.#limits = limits;
  }

  get limit(): number {
    return this.#limits.total;
  }

  get used(): number {
    return this.#used;
  }

  /** A share of this caller, of nothing at first. */
  open(caller: string): BudgetShare {
    return new BudgetShare(this, caller);
  }

  /**
   * Why a share that holds an amount can't be raised to another one; null: it can.
   * @param freed what other callers would give back
   */
  refusalOf(caller: string, held: number, requested: number, freed = 0): Refusal | null {
    const ofOthers = this.#used - held - freed;
    const ofCallersOthers = (this.#byCaller.get(caller) ?? 0) - held;
    if (ofOthers > 0 && ofOthers + requested > this.#limits.total) return 'total';
    if (ofCallersOthers > 0 && ofCallersOthers + requested > this.#limits.perCaller) return 'caller';
    return null;
  }

  /** Raises or lowers a share. */
  change(caller: string, held: number, amount: number): void {
    this.#used += amount - held;
    const ofCaller = (this.#byCaller.get(caller) ?? 0) + amount - held;
    if (ofCaller === 0) this.#byCaller.delete(caller);
    else this.#byCaller.set(caller, ofCaller);
  }
}

/** What one request holds of a budget. */
export class BudgetShare {
  readonly #budget: SharedBudget;
  readonly #caller: string;
  #held = 0;
  #released = false;

  constructor(budget: SharedBudget, caller: string) {
    this.#budget = budget;
    this.#caller = caller;
  }

  get held(): number {
    return this.#held;
  }

  /** Whether both take from one budget. */
  sharesWith(other: BudgetShare): boolean {
    return other.#budget === this.#budget;
  }

  /** Whether the share could not be raised to `amount` now, or after other callers have freed some. Takes nothing. */
  wouldRefuse(amount: number, freed = 0): Refusal | null {
    return amount <= this.#held ? null : this.#budget.refusalOf(this.#caller, this.#held, amount, freed);
  }

  /** Raises the share to `amount`, or leaves it as it is. @returns null when the share has this amount */
  raiseTo(amount: number): Refusal | null {
    if (this.#released || amount <= this.#held) return null;
    const refusal = this.wouldRefuse(amount);
    if (refusal !== null) return refusal;
    this.#budget.change(this.#caller, this.#held, amount);
    this.#held = amount;
    return null;
  }

  /** Gives everything back, once; later calls do nothing. */
  release(): void {
    if (this.#released) return;
    this.#released = true;
    this.#budget.change(this.#caller, this.#held, 0);
    this.#held = 0;
  }
}
