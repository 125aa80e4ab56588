import { z } from "zod";
import type { BuilderCalls } from "../../../builder/ports.ts";
import type { ComponentCode } from "../../../domain/component/component-code.ts";
import type { Build } from "../../../domain/component/definition.ts";
import type { PackageListing, WantedPackage } from "../../../domain/component/package-listing.ts";
import { HeadwaterError, Invariant } from "../../../domain/errors.ts";
import { buildSubject } from "../../../domain/subjects.ts";
import type { Stoppable } from "../connection/link.ts";
import type { Nats } from "../connection/link.ts";
import { request, serve, type Service } from "./request-reply.ts";

const componentCode = z.object({
  code: z.string(),
  entry: z.string().exactOptional(),
  files: z.record(z.string(), z.string()).exactOptional(),
});
/** A request to build a component, to fetch one from a URL, to list a package, or to show that a builder is running. */
const builderRequest = z.union([
  componentCode.extend({
    language: z.enum(["js", "ts", "auto"]).exactOptional(),
    lockfile: z.string().exactOptional(),
    owner: z.string().exactOptional(),
  }),
  z.object({ collect: z.string(), owner: z.string().exactOptional() }),
  z.object({ listPackage: z.string(), range: z.string().nullable(), owner: z.string().exactOptional() }),
  z.object({ ping: z.literal(true) }),
]);

export interface BuildRequest extends ComponentCode {
  readonly language?: "js" | "ts" | "auto";
  readonly lockfile?: string | null;
  /** Owners take turns in the builder. */
  readonly owner?: string;
}

/** Only our own builder replies, from typed values. */
const builds = z.custom<Build>((value) => typeof value === "object" && value !== null && "bundle" in value);
const listings = z.custom<PackageListing>((value) => typeof value === "object" && value !== null && "components" in value);

/** The timeout is longer than a build may take, so that the builder's own error about its time limit arrives. */
const service: Service = {
  queue: "builders",
  timeoutMs: 75_000,
  isCompressed: true,
  finishesOnStop: true,
  noReply: {
    absent: { code: "no_builder", message: "no builder is running: components cannot be built now, try again" },
    late: { code: "builder_timeout", message: "the builder did not answer in time: try again" },
    unreachable: { code: "builder_unreachable", message: "the builder cannot be reached: try again" },
  },
};

/** Each request goes to one of the builders. */
export const serveBuildRequests = (nats: Nats, calls: BuilderCalls): Promise<Stoppable> =>
  serve(nats, buildSubject, service, async (body) => {
    try {
      const call = builderRequest.parse(body);
      if ("ping" in call) return true;
      if ("listPackage" in call) return await calls.listPackage(call.listPackage, call.range, call.owner);
      return "collect" in call ? await calls.collect(call.collect, call.owner) : await calls.build(call);
    } catch (cause) {
      if (cause instanceof HeadwaterError) throw cause;
      throw new Invariant(`the build failed: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
    }
  });

interface CallOptions {
  readonly timeoutMs?: number;
}

const call = (nats: Nats, body: object, options: CallOptions): Promise<unknown> =>
  request(nats, buildSubject, { ...service, ...options }, body);

/** Builds a component in a builder. @throws what the builder threw (InvalidInput, LimitExceeded, Unavailable); Unavailable when none replies */
export async function requestBuild(nats: Nats, build: BuildRequest, options: CallOptions = {}): Promise<Build> {
  const { code, entry, files, language, lockfile, owner } = build;
  return builds.parse(await call(nats, { code, entry, files, language, lockfile: lockfile ?? undefined, owner }, options));
}

/** Fetches the component at a URL through a builder. @throws what the builder threw, Forbidden too; Unavailable when none replies */
export async function requestComponent(
  nats: Nats,
  url: string,
  { owner, ...options }: CallOptions & { owner?: string | undefined } = {},
): Promise<ComponentCode> {
  return componentCode.parse(await call(nats, { collect: url, owner }, options));
}

/** Lists the components of a package through a builder. @throws as `requestComponent` */
export async function requestListing(
  nats: Nats,
  { name, range }: WantedPackage,
  { owner, ...options }: CallOptions & { owner?: string | undefined } = {},
): Promise<PackageListing> {
  return listings.parse(await call(nats, { listPackage: name, range, owner }, options));
}

const pingTimeoutMs = 1_500;

/** @throws Unavailable when no builder replies */
export async function pingBuilder(nats: Nats): Promise<void> {
  await call(nats, { ping: true }, { timeoutMs: pingTimeoutMs });
}
