/**
 * Direct requests, or those of the SDK: when requests need another signature, which the first request finds
 * out, and from the time on when the server refuses a direct request and grants it to the SDK. Once the server
 * has granted a direct request of a kind, it is not asked twice any more.
 */
export class DirectOrSdk<Requests extends object> {
  readonly #options;
  readonly #granted = new Set<string>();
  #current: Requests | undefined;

  constructor(options: {
    readonly sdk: Requests;
    /** Called before the first request, or by several at once. null: they need another signature. */
    readonly direct: () => Promise<Requests | null>;
    /** Whether the server does not grant the request in this form. */
    readonly isRefused: (error: unknown) => boolean;
    /** Called once, when the requests of the SDK are used from now on. */
    readonly onRefused: ((error: unknown) => void) | undefined;
  }) {
    this.#options = options;
  }

  async send<T>(kind: string, send: (requests: Requests) => Promise<T>): Promise<T> {
    const { sdk, isRefused, onRefused } = this.#options;
    const requests = this.#current ?? (await this.#choose());
    try {
      const answer = await send(requests);
      this.#granted.add(kind);
      return answer;
    } catch (error) {
      if (requests === sdk || this.#granted.has(kind) || !isRefused(error)) throw error;
      const answer = await send(sdk);
      if (this.#current === requests) {
        this.#current = sdk;
        onRefused?.(error);
      }
      return answer;
    }
  }

  async #choose(): Promise<Requests> {
    const direct = await this.#options.direct();
    this.#current ??= direct ?? this.#options.sdk; // another first request may have chosen meanwhile
    return this.#current;
  }
}
