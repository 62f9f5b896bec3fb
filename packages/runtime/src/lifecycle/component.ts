/** A part of a service that runs in the background. */
export interface Component {
  /** For log messages about a component that starts, stops or hangs. */
  readonly name: string;
  /** Resolves when the component works. Called once. */
  start(): Promise<void>;
  /** Resolves when no request, pass or timer of the component is left. Also called after a failed start. */
  stop(): Promise<void>;
}
