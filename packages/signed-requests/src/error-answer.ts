export interface ErrorAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** In the format of the service. Empty, or anything else, when a proxy has answered. */
  readonly text: string;
}
