import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { z } from "zod";
import { digestOf, hexOf, isDigest, type Digest } from "./digest.ts";

/** A registry on loopback that stores what is pushed as an OCI image layout, a folder that every OCI tool reads. */
export interface LayoutRegistry {
  /** `127.0.0.1:<port>` */
  readonly host: string;
  stop(): Promise<void>;
}

const mediaType = z.object({ mediaType: z.string().default("application/vnd.oci.image.manifest.v1+json") });

/** Follows the push part of https://github.com/opencontainers/distribution-spec, for one artifact and uploads in one piece. */
export async function startLayoutRegistry(folder: string): Promise<LayoutRegistry> {
  await mkdir(join(folder, "blobs", "sha256"), { recursive: true });
  await writeFile(join(folder, "oci-layout"), JSON.stringify({ imageLayoutVersion: "1.0.0" }));
  const layout = new Layout(folder);
  const server = createServer((request, response) => {
    layout.handle(request, response).catch((error: unknown) => response.writeHead(500).end(String(error)));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo; // A listening TCP server has one.
  return {
    host: `127.0.0.1:${port}`,
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

class Layout {
  readonly #folder: string;
  readonly #stored = new Map<Digest, { readonly body: Uint8Array; readonly type: string }>();
  #uploads = 0;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://registry");
    const [, repository = "", kind = "", name = ""] = /^\/v2\/(.+)\/(blobs|manifests)\/(.+)$/.exec(pathname) ?? [];
    const body = await buffer(request);
    if (request.method === "POST" && kind === "blobs")
      response.writeHead(202, { location: `/v2/${repository}/blobs/uploads/${++this.#uploads}` }).end();
    else if (request.method === "PUT" && kind === "blobs") await this.#putBlob(body, searchParams.get("digest") ?? "", response);
    else if (request.method === "PUT" && kind === "manifests") await this.#putManifest(body, name, response);
    else this.#answer(request.method, name, pathname, response);
  }

  async #putBlob(body: Uint8Array, expected: string, response: ServerResponse): Promise<void> {
    const digest = digestOf(body);
    if (digest !== expected) {
      response.writeHead(400).end(`digest ${expected} is wrong: the content has ${digest}`);
      return;
    }
    await this.#store(body, "application/octet-stream");
    response.writeHead(201, { "docker-content-digest": digest }).end();
  }

  async #putManifest(body: Uint8Array, tag: string, response: ServerResponse): Promise<void> {
    const { mediaType: type } = mediaType.parse(JSON.parse(new TextDecoder().decode(body)));
    const digest = await this.#store(body, type);
    const annotations = isDigest(tag) ? {} : { annotations: { "org.opencontainers.image.ref.name": tag } };
    const manifests = [{ mediaType: type, digest, size: body.byteLength, ...annotations }];
    await writeFile(join(this.#folder, "index.json"), JSON.stringify({ schemaVersion: 2, manifests }));
    response.writeHead(201, { "docker-content-digest": digest }).end();
  }

  async #store(body: Uint8Array, type: string): Promise<Digest> {
    const digest = digestOf(body);
    this.#stored.set(digest, { body, type });
    await writeFile(join(this.#folder, "blobs", "sha256", hexOf(digest)), body);
    return digest;
  }

  #answer(method: string | undefined, name: string, pathname: string, response: ServerResponse): void {
    const found = isDigest(name) ? this.#stored.get(name) : undefined;
    if (pathname === "/v2/") response.writeHead(200).end("{}");
    else if (found === undefined) response.writeHead(404).end();
    else {
      const headers = { "content-type": found.type, "content-length": found.body.byteLength, "docker-content-digest": name };
      response.writeHead(200, headers).end(method === "HEAD" ? undefined : found.body);
    }
  }
}
