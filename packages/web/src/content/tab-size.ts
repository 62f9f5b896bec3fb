/** The languages whose usual indentation is two columns; others have four. */
const TWO =
  /^(?:css|scss|less|html|xml|vue|svelte|json|yaml|javascript|typescript|dart|elixir|nix|r|ruby|scala|graphql|hcl|protobuf|ocaml|lisp|clojure|haskell|lua|tex)$/;

/** Programs that write to terminals, and the style of Linux, count on eight. */
const EIGHT = /^(?:|text|c|diff)$/;

/** The columns of a tab, for readers who have chosen none. @param language its id; empty: unknown */
export function tabSizeOf(language: string): 2 | 4 | 8 {
  if (TWO.test(language)) return 2;
  return EIGHT.test(language) ? 8 : 4;
}
