/** The token of the document's examples. The tests make it and sign in with it. */
export const exampleToken = 'pf_0000000000000000000000000000000000000000000';
