import type { LogFields, Logger } from '@pasteflow/runtime';

export class RecordingLogger implements Logger {
  readonly lines: { level: string; message: string; fields: LogFields }[] = [];
  error = this.#write('error');
  warn = this.#write('warn');
  info = this.#write('info');
  debug = this.#write('debug');

  child(): Logger {
    return this;
  }

  #write(level: string) {
    return (message: string, fields: LogFields = {}): void =>
      void this.lines.push({ level, message, fields });
  }
}
