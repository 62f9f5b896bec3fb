import type { Logger } from './logging/logger.ts';

/** A part of a service that runs in the background. */
export interface Component {
  /** For log messages about a component that starts, stops or hangs. */
  readonly name: string;
  /** Resolves when the component works. Called once. */
  start(): Promise<void>;
  /** Resolves when no request, pass or timer of the component is left. Also called after a failed start. */
  stop(): Promise<void>;
}

/** A service cannot start for a reason that the user can correct. The message is printed without a stack. */
export class StartError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'StartError';
  }
}

/** Starts components in order and stops them in reverse order. */
export class Lifecycle {
  readonly #components: readonly Component[];
  readonly #logger: Logger;
  /** The components whose `start()` was called, the last one first. */
  readonly #begun: Component[] = [];
  #starting: Promise<void> = Promise.resolve();
  #stop: Promise<boolean> | undefined;
  #busyWith: string | undefined;

  constructor(components: readonly Component[], logger: Logger) {
    this.#components = components;
    this.#logger = logger;
  }

  /**
   * The component that is starting or stopping at this moment, for the message about a stop that takes too
   * long.
   */
  get busyWith(): string | undefined {
    return this.#busyWith;
  }

  /**
   * Rejects with the error of the first component that cannot start. Later components are not started. The
   * caller must still call `stop()`.
   */
  start(): Promise<void> {
    this.#starting = this.#startAll();
    return this.#starting;
  }

  /**
   * Waits for the component that is starting, starts no other, and stops all components whose start was
   * called. The failure of one component is logged, and the others are still stopped. Further calls return
   * the same promise.
   * @returns whether all components stopped without an error
   */
  stop(): Promise<boolean> {
    this.#stop ??= this.#stopAll();
    return this.#stop;
  }

  async #startAll(): Promise<void> {
    for (const component of this.#components) {
      if (this.#stop !== undefined) return;
      this.#begun.unshift(component);
      this.#busyWith = component.name;
      await component.start();
      this.#busyWith = undefined;
      this.#logger.debug('component started', { component: component.name });
    }
  }

  async #stopAll(): Promise<boolean> {
    await this.#starting.catch(() => undefined); // The caller of start() handles the error.
    let allStopped = true;
    for (const component of this.#begun) {
      this.#busyWith = component.name;
      try {
        await component.stop();
        this.#logger.debug('component stopped', { component: component.name });
      } catch (error) {
        allStopped = false;
        this.#logger.error('component failed to stop', { component: component.name, error });
      }
    }
    this.#busyWith = undefined;
    return allStopped;
  }
}
