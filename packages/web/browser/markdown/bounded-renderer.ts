import { Renderer, type Tokens } from 'marked';
import { withSimpleTags } from './simple-tags.ts';
import { TextTooComplex } from './text-too-complex.ts';

/** A definition of a long link can be used by any number of short references. */
const MAX_LINK_CHARACTERS = 1024 * 1024;

/** @throws TextTooComplex for links that together are longer than a text of the permitted size needs */
export class BoundedRenderer extends Renderer {
  #linkCharacters = 0;

  override link(token: Tokens.Link): string {
    this.#count(token.href);
    return super.link({ ...token, title: null });
  }

  override image(token: Tokens.Image): string {
    this.#count(token.href);
    return super.image({ ...token, title: null });
  }

  override html({ text }: Tokens.HTML | Tokens.Tag): string {
    return withSimpleTags(text);
  }

  /** marked leaves text between raw tags as it is. */
  override text(token: Tokens.Text | Tokens.Escape): string {
    const isRaw = token.type === 'text' && token.escaped === true;
    return isRaw ? withSimpleTags(token.text) : super.text(token);
  }

  /** The page has an h1. */
  override heading({ tokens, depth }: Tokens.Heading): string {
    const level = Math.min(depth + 1, 6);
    return `<h${level}>${this.parser.parseInline(tokens)}</h${level}>\n`;
  }

  /** A mark instead of an element that looks as if it could be changed. */
  override checkbox({ checked }: Tokens.Checkbox): string {
    return checked ? '☑ ' : '☐ ';
  }

  #count(href: string): void {
    this.#linkCharacters += href.length;
    if (this.#linkCharacters > MAX_LINK_CHARACTERS)
      throw new TextTooComplex(`The links have more than ${MAX_LINK_CHARACTERS} characters.`);
  }
}
