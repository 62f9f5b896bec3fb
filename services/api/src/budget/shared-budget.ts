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
    return new BudgetShare((held, requested) => this.#change(caller, held, requested));
  }

  #change(caller: string, held: number, requested: number): Refusal | null {
    const ofOthers = this.#used - held;
    const ofCallersOthers = (this.#byCaller.get(caller) ?? 0) - held;
    if (requested > held) {
      if (ofOthers > 0 && ofOthers + requested > this.#limits.total) return 'total';
      if (ofCallersOthers > 0 && ofCallersOthers + requested > this.#limits.perCaller) return 'caller';
    }
    this.#used = ofOthers + requested;
    if (ofCallersOthers + requested === 0) this.#byCaller.delete(caller);
    else this.#byCaller.set(caller, ofCallersOthers + requested);
    return null;
  }
}

/** What one request holds of a budget. */
export class BudgetShare {
  readonly #change: (held: number, requested: number) => Refusal | null;
  #held = 0;
  #released = false;

  constructor(change: (held: number, requested: number) => Refusal | null) {
    this.#change = change;
  }

  /** Raises the share to `amount`, or leaves it as it is. @returns null when the share has this amount */
  raiseTo(amount: number): Refusal | null {
    if (this.#released || amount <= this.#held) return null;
    const refusal = this.#change(this.#held, amount);
    if (refusal === null) this.#held = amount;
    return refusal;
  }

  /** Gives everything back, once; later calls do nothing. */
  release(): void {
    if (this.#released) return;
    this.#released = true;
    this.#change(this.#held, 0);
    this.#held = 0;
  }
}
