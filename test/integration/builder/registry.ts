import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { listen, type AtEnd } from "./support.ts";

export interface FakePackage {
  readonly name: string;
  readonly version?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: unknown;
  readonly scripts?: Readonly<Record<string, string>>;
  readonly files: Readonly<Record<string, string>>;
  /** Path → target of the symbolic link. */
  readonly links?: Readonly<Record<string, string>>;
  /** Omitted from the registry's response. */
  readonly withoutIntegrity?: boolean;
  /** In place of the hash of its tarball; "…" stands for that. */
  readonly integrity?: string;
  /** Served instead of the tarball that the integrity hash was made of. */
  readonly tampered?: boolean;
}

export interface FakeRegistry {
  /** For the builder's `npm` option. */
  readonly npm: { readonly registry: string };
  /** Paths requested so far. */
  readonly requests: string[];
  /** Responds with 503 until called with false. */
  fail(failing: boolean): void;
}

/** An npm registry on loopback with the given packages: hostile ones soon disappear from a real one. With a token it is private. */
export async function startRegistry(packages: readonly FakePackage[], token?: string, atEnd?: AtEnd): Promise<FakeRegistry> {
  const requests: string[] = [];
  let failing = false;
  const origin = await listen((request, response) => {
    const path = decodeURIComponent(request.url ?? "").slice(1);
    requests.push(path);
    if (failing) return void response.writeHead(503).end();
    if (token !== undefined && request.headers.authorization !== `Bearer ${token}`) return void response.writeHead(401).end("{}");
    const tarball = packages.find((item) => path === tarballPath(item));
    if (tarball) return void response.end(tarball.tampered ? pack({ ...tarball, files: { "index.js": "evil()" } }) : pack(tarball));
    const named = packages.filter(({ name }) => name === path);
    if (named.length === 0) return void response.writeHead(404, { "content-type": "application/json" }).end("{}");
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(packument(named, origin)));
  }, atEnd);
  return {
    npm: { registry: origin },
    requests,
    fail: (value) => {
      failing = value;
    },
  };
}

const versionOf = ({ version = "1.0.0" }: FakePackage): string => version;
const tarballPath = (item: FakePackage): string => `${item.name}/-/${item.name.split("/").pop()}-${versionOf(item)}.tgz`;

function packument(named: readonly FakePackage[], origin: string): unknown {
  const versions = named.map((item) => [
    versionOf(item),
    {
      ...manifest(item),
      dist: {
        tarball: `${origin}/${tarballPath(item)}`,
        ...(item.withoutIntegrity ? {} : { integrity: integrityOf(item) }),
      },
    },
  ]);
  return {
    name: named[0]?.name,
    "dist-tags": { latest: versionOf(named.at(-1) ?? { name: "", files: {} }) },
    versions: Object.fromEntries(versions),
  };
}

function integrityOf(item: FakePackage): string {
  const hash = `sha512-${createHash("sha512").update(pack(item)).digest("base64")}`;
  return item.integrity?.replace("…", hash) ?? hash;
}

function manifest({
  files: _,
  links: __,
  withoutIntegrity: ___,
  tampered: ____,
  integrity: _____,
  ...fields
}: FakePackage): Record<string, unknown> {
  return { version: "1.0.0", main: "index.js", ...fields };
}

function pack(item: FakePackage): Buffer {
  const files = { "package.json": JSON.stringify(manifest(item)), ...item.files };
  const entries = [
    ...Object.entries(files).map(([path, text]) => tarEntry(`package/${path}`, Buffer.from(text))),
    ...Object.entries(item.links ?? {}).map(([path, target]) => tarEntry(`package/${path}`, Buffer.alloc(0), target)),
  ];
  return gzipSync(Buffer.concat([...entries, Buffer.alloc(1_024)]));
}

/** One entry of a tar file, POSIX ustar. */
function tarEntry(path: string, content: Buffer, link?: string): Buffer {
  const header = Buffer.alloc(512);
  header.write(path, 0);
  header.write("0000644\0", 100);
  header.write("0000000\0", 108);
  header.write("0000000\0", 116);
  header.write(`${content.length.toString(8).padStart(11, "0")}\0`, 124);
  header.write("00000000000\0", 136);
  header.write("        ", 148);
  header.write(link === undefined ? "0" : "2", 156);
  if (link !== undefined) header.write(link, 157);
  header.write("ustar\x0000", 257);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return Buffer.concat([header, content, Buffer.alloc((512 - (content.length % 512)) % 512)]);
}
