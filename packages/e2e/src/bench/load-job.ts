/** What `load-main.ts` does, as its only argument in JSON. */
export interface LoadJob {
  readonly baseUrl: string;
  readonly kind: 'create' | 'create of text' | 'keyed create' | 'multipart create' | 'read' | 'revalidate';
  readonly count: number;
  readonly connections: number;
  /** Bytes of a created paste. */
  readonly bytes: number;
  /** The path of each request that is not a create, in turn. */
  readonly paths: readonly string[];
  /** Starts so many requests a second; null: a connection starts the next one when its last one has ended. */
  readonly perSecond: number | null;
  /**
   * Requests before the `count` ones. Their latencies are left out, because the load's own process opens its
   * connections and compiles its code.
   */
  readonly warming: number;
}

/**
 * What came of a load. A latency is in ms. All but the latencies includes the requests that warm the load up.
 */
export interface LoadResult {
  readonly seconds: number;
  readonly p50: number;
  readonly p99: number;
  /** Of the process that made the load, in s. */
  readonly cpuSeconds: number;
  /** The codes of the created pastes. */
  readonly shortCodes: readonly string[];
  /** Answers with another status than the job expects, by status. */
  readonly unexpected: Readonly<Record<string, number>>;
}

export const CONNECTIONS = 50;
/** Of a paste that a benchmark creates. */
export const PASTE_BYTES = 2048;
