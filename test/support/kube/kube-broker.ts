import { createServer, type IncomingMessage, type Server } from "node:http";
import { KubeApiClient, type KubeAccess } from "./kube-api-client.ts";
import { startKubeApiServer, type KubeApiServer } from "./kube-api-server.ts";
import type { KubeAssets } from "./kube-assets.ts";
import { installCrds } from "./kube-crds.ts";
import { provideKubeAssets } from "./kube-release.ts";

export type BrokerRequest =
  /** The programs, or the reason why they are missing. */
  | { readonly ask: "assets" }
  /** The server that files share, with our CRDs; started on the first request. */
  | { readonly ask: "shared" }
  | { readonly ask: "own"; readonly flags: readonly string[] }
  | { readonly ask: "stopServer" | "killServer" | "startServer" | "stop"; readonly url: string };

export type BrokerAnswer =
  | { readonly assets: KubeAssets }
  | { readonly missing: string }
  | { readonly access: KubeAccess }
  | { readonly done: true }
  | { readonly error: string };

export interface KubeBroker {
  readonly url: string;
  stop(): Promise<void>;
}

/**
 * Starts API servers for test files on request. The broker runs in the process that outlives the files: a file that is killed leaves no
 * server behind, and a run that needs no server starts none.
 */
export async function startKubeBroker(): Promise<KubeBroker> {
  const servers = new Map<string, KubeApiServer>();
  const assets = once(async () => {
    const found = await provideKubeAssets();
    if ("missing" in found) process.stderr.write(`tests of a Kubernetes API server are skipped: ${found.missing}\n`);
    return found;
  });
  const start = async (flags: readonly string[]): Promise<KubeApiServer> => {
    const found = await assets();
    if ("missing" in found) throw new Error(found.missing);
    const server = await startKubeApiServer(found.assets, flags);
    servers.set(server.access.url, server);
    return server;
  };
  const shared = once(async () => {
    const server = await start([]);
    const client = new KubeApiClient(server.access);
    try {
      await installCrds(client);
    } finally {
      await client.close();
    }
    return server;
  });
  const answer = async (request: BrokerRequest): Promise<BrokerAnswer> => {
    if (request.ask === "assets") return assets();
    if (request.ask === "shared") return { access: (await shared()).access };
    if (request.ask === "own") return { access: (await start(request.flags)).access };
    return control(servers, request);
  };
  const http = createServer((request, response) => {
    void read(request)
      .then(answer)
      .catch((error: unknown) => ({ error: error instanceof Error ? error.message : String(error) }))
      .then((result) => response.end(JSON.stringify(result)));
  });
  return {
    url: await listen(http),
    stop: async () => {
      http.close();
      http.closeAllConnections();
      await Promise.all([...servers.values()].map((server) => server.stop()));
    },
  };
}

type Control = Extract<BrokerRequest, { url: string }>;

async function control(servers: Map<string, KubeApiServer>, { ask, url }: Control): Promise<BrokerAnswer> {
  const server = servers.get(url);
  if (server === undefined) throw new Error(`no API server at ${url} was started here`);
  if (ask === "stopServer") await server.stopServer("stop");
  else if (ask === "killServer") await server.stopServer("kill");
  else if (ask === "startServer") await server.startServer();
  else {
    servers.delete(url);
    await server.stop();
  }
  return { done: true };
}

async function read(request: IncomingMessage): Promise<BrokerRequest> {
  let text = "";
  for await (const chunk of request) text += String(chunk);
  return JSON.parse(text) as BrokerRequest; // Only kube-api.ts writes here.
}

function listen(server: Server): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      resolve(`http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`);
    });
  });
}

/** Calls `make` once and returns the same promise to every caller. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => (made ??= make());
}
