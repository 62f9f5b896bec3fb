/** Something that runs for as long as its service does. */
export interface Component {
  /** For the log: what is starting, stopping, or hanging. */
  readonly name: string;
  /** Resolves when it works; called once. */
  start(): Promise<void>;
  /** Resolves when it really has stopped: no request, no pass, no timer of it is left. Also called after a start that failed. */
  stop(): Promise<void>;
}
