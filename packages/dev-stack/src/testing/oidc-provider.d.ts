// The package has no types, and those of DefinitelyTyped depend on Koa's: this is what oidc-issuer.ts uses.
declare module 'oidc-provider' {
  import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
  import type { JWK } from 'jose';

  interface ResourceServer {
    readonly scope: string;
    readonly audience: string;
    readonly accessTokenFormat: 'jwt' | 'opaque';
    readonly jwt: { readonly sign: { readonly alg: string } };
  }

  interface Grant {
    addOIDCScope(scope: string): void;
    save(): Promise<string>;
  }

  interface Context {
    readonly oidc: {
      readonly provider: Provider;
      readonly client: { readonly clientId: string };
      readonly session: { readonly accountId: string };
    };
  }

  interface Configuration {
    readonly jwks: { readonly keys: readonly JWK[] };
    readonly clients: readonly Readonly<Record<string, unknown>>[];
    readonly cookies: { readonly keys: readonly string[] };
    readonly interactions: { readonly url: (ctx: Context, interaction: { readonly uid: string }) => string };
    readonly claims: Readonly<Record<string, readonly string[]>>;
    readonly conformIdTokenClaims: boolean;
    readonly findAccount: (
      ctx: Context,
      sub: string,
    ) => { readonly accountId: string; readonly claims: () => object };
    readonly loadExistingGrant: (ctx: Context) => Promise<Grant>;
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
    readonly Grant: new (of: { accountId: string; clientId: string }) => Grant;
    callback(): RequestListener;
    interactionFinished(req: IncomingMessage, res: ServerResponse, result: object): Promise<void>;
  }
}
