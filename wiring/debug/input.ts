import { z } from "zod";
import { dedupeStrategies } from "../../domain/component/definition.ts";
import type { Deployment } from "../../domain/source/deployment.ts";
import { hooks } from "../../domain/trigger.ts";
import type { EventMetadata } from "../../domain/event/event-metadata.ts";
import type { ReceivedInvocation } from "../../runner/run/received.ts";

const values = z.record(z.string(), z.unknown());

/** The response of `POST /sources/{id}/runs/{run_id}/debug`, completed by `hw debug`. */
const input = z.object({
  run_id: z.string(),
  source_id: z.string(),
  deployment_id: z.string(),
  hook: z.enum(hooks).optional(),
  files: z.record(z.string(), z.string()),
  bundle: z.object({
    hash: z.string().regex(/^[0-9a-f]{64}$/),
    code: z.string(),
    source_map: z.string().nullable(),
    needs_node: z.boolean(),
  }),
  event: z.unknown(),
  metadata: z.unknown().optional(),
  props: values,
  /** Values of secret props and accounts. */
  secrets: values,
  additional_props: z.array(z.object({ name: z.string(), type: z.string(), app: z.string().exactOptional() })),
  db: z.record(z.string(), values),
  /** Its state is not known: an emit that dedupe refuses is an error of the run all the same. */
  dedupe: z.enum(dedupeStrategies).nullable(),
  endpoint: z.string().nullable(),
  /** Null: without an inspector. */
  inspect_port: z.int().min(0).max(65_535).nullable(),
});
export type DebugInput = z.infer<typeof input>;

export const parseInput = (json: string): DebugInput => input.parse(JSON.parse(json));

/** The bundle; for a debugger with its source map, and in that the component's own code. */
export function debuggedBundle({ bundle: { code, source_map: map }, files, inspect_port: port }: DebugInput): string {
  if (port === null || map === null) return code;
  const parsed = JSON.parse(map) as { readonly sources: readonly string[] }; // Written by the bundler.
  const withContent = { ...parsed, sourcesContent: parsed.sources.map((source) => files[source] ?? null) };
  const url = `data:application/json;base64,${Buffer.from(JSON.stringify(withContent)).toString("base64")}`;
  return `${code}\n//# sourceMappingURL=${url}\n`;
}

interface DebuggedRun {
  readonly received: ReceivedInvocation;
  readonly deployment: Deployment;
  /** prop → key → JSON text. */
  readonly db: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** JSON text: apart from the props, so that they are masked in what is shown. */
  readonly secrets: string;
}

export function debuggedRun(input: DebugInput, now: number): DebuggedRun {
  const { run_id: run, source_id: source, hook, event, metadata, additional_props: additional } = input;
  return {
    received: {
      invocation: {
        source: run,
        run,
        at: now,
        trigger: hook === undefined ? "manual" : "hook",
        event,
        ...(hook === undefined ? {} : { hook }),
        ...(metadata === undefined ? {} : { metadata: metadata as EventMetadata }), // Only passed on.
      },
      position: { pool: "local", seq: 1, index: 0, storedAt: now },
      storedAt: now,
      skippedTicks: 0,
    },
    deployment: {
      source,
      owner: "local",
      pool: "local",
      name: source,
      id: input.deployment_id,
      generation: 1,
      active: true,
      bundle: input.bundle.hash,
      needsNode: input.bundle.needs_node,
      props: input.props,
      secrets: "of this process",
      ...(additional.length === 0 ? {} : { additionalProps: additional }),
      dedupe: input.dedupe,
      hooks: [],
      endpoint: input.endpoint,
    },
    db: Object.fromEntries(
      Object.entries(input.db).map(([prop, keys]) => [
        prop,
        Object.fromEntries(Object.entries(keys).map(([key, value]) => [key, JSON.stringify(value)])),
      ]),
    ),
    secrets: JSON.stringify(input.secrets),
  };
}
