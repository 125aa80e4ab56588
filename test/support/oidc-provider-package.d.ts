/** The parts of oidc-provider that tests use. */
declare module "oidc-provider" {
  import type { IncomingMessage, ServerResponse } from "node:http";

  export interface Configuration {
    readonly clients: readonly Readonly<Record<string, unknown>>[];
    readonly cookies: { readonly keys: readonly string[] };
    readonly ttl: Readonly<Record<string, number>>;
    readonly features: Readonly<Record<string, { readonly enabled: boolean }>>;
    readonly scopes: readonly string[];
  }

  interface Stored {
    destroy(): Promise<void>;
  }

  export interface Context {
    readonly oidc: { readonly entities: { readonly RefreshToken?: Stored; readonly Grant?: Stored } };
  }

  export default class Provider {
    constructor(issuer: string, configuration: Configuration);
    callback(): (request: IncomingMessage, response: ServerResponse) => void;
    on(event: "grant.success", listener: (context: Context) => void): this;
    on(event: "grant.error" | "server_error", listener: (context: Context, error: Error) => void): this;
  }
}
