/** What yazl asks a date for, in UTC. */
class DateInUtc extends Date {
  override getFullYear(): number {
    return this.getUTCFullYear();
  }
  override getMonth(): number {
    return this.getUTCMonth();
  }
  override getDate(): number {
    return this.getUTCDate();
  }
  override getHours(): number {
    return this.getUTCHours();
  }
  override getMinutes(): number {
    return this.getUTCMinutes();
  }
  override getSeconds(): number {
    return this.getUTCSeconds();
  }
}

/**
 * The time of a file in a zip. yazl writes a local time, beside the exact one that programs prefer: processes in
 * different time zones would write other bytes.
 */
export const zipTimeOf = (time: Date): Date => new DateInUtc(time);
