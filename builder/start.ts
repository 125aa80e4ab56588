import { createBuilder, type BuilderOptions } from "./builder.ts";
import type { Addresses, BuildRequests } from "./ports.ts";

export interface StartOptions extends BuilderOptions {
  readonly requests: BuildRequests;
  readonly addresses: Addresses;
}

/** The role: a builder that answers requests until it is stopped. Several may run; they share the requests between them. */
export async function startBuilder({ requests, addresses, ...options }: StartOptions): Promise<{ stop(): Promise<void> }> {
  const builder = await createBuilder(options);
  const serving = await requests.serve({
    build: (request) => builder.build(request),
    collect: (url, owner) => builder.collect(url, addresses, owner),
    listPackage: (name, range, owner) => builder.listPackage(name, range, owner),
  });
  return {
    async stop() {
      await serving.stop();
      await builder.stop();
    },
  };
}
