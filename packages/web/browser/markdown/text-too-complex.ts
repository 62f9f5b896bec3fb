/** A text of this kind was written to freeze a tab. */
export class TextTooComplex extends Error {
  override readonly name = 'TextTooComplex';
}
