import type { Logger } from '../logging/logger.ts';
import type { Component } from './component.ts';

/** Starts components in their order and stops them in the reverse one. */
export class Lifecycle {
  readonly #components: readonly Component[];
  readonly #logger: Logger;
  /** Those whose start was begun, the last one first. */
  readonly #begun: Component[] = [];
  #starting: Promise<void> = Promise.resolve();
  #stop: Promise<boolean> | undefined;
  #busyWith: string | undefined;

  constructor(components: readonly Component[], logger: Logger) {
    this.#components = components;
    this.#logger = logger;
  }

  /** The component that is being started or stopped at this moment: the one to name when it takes too long. */
  get busyWith(): string | undefined {
    return this.#busyWith;
  }

  /** Rejects with the error of the first component that can't start; those behind it aren't started. `stop()` is still due. */
  start(): Promise<void> {
    this.#starting = this.#startAll();
    return this.#starting;
  }

  /**
   * Waits for the component that is starting, starts no other, and stops all that were begun. A component that fails to stop is
   * logged and doesn't keep the others from stopping. Called again, it answers the same promise: whether all stopped well.
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
    await this.#starting.catch(() => undefined); // whoever called start() has the error
    let good = true;
    for (const component of this.#begun) {
      this.#busyWith = component.name;
      try {
        await component.stop();
        this.#logger.debug('component stopped', { component: component.name });
      } catch (error) {
        good = false;
        this.#logger.error('component failed to stop', { component: component.name, error });
      }
    }
    this.#busyWith = undefined;
    return good;
  }
}
