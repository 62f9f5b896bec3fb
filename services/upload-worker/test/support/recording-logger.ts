import type { LogFields, Logger } from '@pasteflow/runtime';

export interface Line {
  readonly level: string;
  readonly message: string;
  readonly fields: LogFields;
}

/** Records all lines, also those of child loggers. */
export class RecordingLogger implements Logger {
  readonly lines: Line[];
  readonly #bindings: LogFields;
  error = this.#write('error');
  warn = this.#write('warn');
  info = this.#write('info');
  debug = this.#write('debug');

  constructor(lines: Line[] = [], bindings: LogFields = {}) {
    this.lines = lines;
    this.#bindings = bindings;
  }

  child(fields: LogFields): Logger {
    return new RecordingLogger(this.lines, { ...this.#bindings, ...fields });
  }

  #write(level: string) {
    return (message: string, fields: LogFields = {}): void =>
      void this.lines.push({ level, message, fields: { ...this.#bindings, ...fields } });
  }
}
