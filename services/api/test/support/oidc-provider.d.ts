// The package has no types, and those of DefinitelyTyped depend on Koa's: this is what oidc-issuer.ts uses.
declare module 'oidc-provider' {
  import type { RequestListener } from 'node:http';
  import type { JWK } from 'jose';

  interface ResourceServer {
    readonly scope: string;
    readonly audience: string;
    readonly accessTokenFormat: 'jwt' | 'opaque';
    readonly jwt: { readonly sign: { readonly alg: string } };
  }

  interface Configuration {
    readonly jwks: { readonly keys: readonly JWK[] };
    readonly clients: readonly Readonly<Record<string, unknown>>[];
    readonly features: {
      readonly clientCredentials: { readonly enabled: boolean };
      readonly devInteractions: { readonly enabled: boolean };
      readonly resourceIndicators: {
        readonly enabled: boolean;
        readonly getResourceServerInfo: (context: unknown, resource: string) => ResourceServer;
      };
    };
  }

  export class Provider {
    constructor(issuer: string, configuration: Configuration);
    callback(): RequestListener;
  }
}
