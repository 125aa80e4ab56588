import type { LatestRuns } from "../../domain/source/source-health.ts";
import type { KnownComponent } from "../resources/components.ts";
import { publicIdOf } from "../resources/identity.ts";
import type { SourceFacts } from "./response.ts";
import type { ApiContext } from "../context.ts";
import { asItRuns, componentNameOf, type SourceResource } from "../resources/source.ts";

/** The component of the running version. */
export async function findComponent(source: SourceResource, { components }: ApiContext): Promise<KnownComponent | undefined> {
  const name = componentNameOf(asItRuns(source));
  return name === undefined ? undefined : components.known(source.metadata.namespace, name);
}

export async function factsOf(
  source: SourceResource,
  context: ApiContext,
): Promise<SourceFacts & { readonly component: KnownComponent | undefined }> {
  const { owners, clock } = context.ports;
  const [component, owner, activity] = await Promise.all([
    findComponent(source, context),
    owners.ownerOf(source.metadata.namespace),
    activityOf([source], context),
  ]);
  return { component, owner, now: clock.now(), ...activity(source) };
}

/** Facts about sources of one namespace, with a constant number of queries. */
export async function factsOfAll(
  namespace: string,
  sources: readonly SourceResource[],
  context: ApiContext,
): Promise<(source: SourceResource) => SourceFacts> {
  const { owners, clock } = context.ports;
  const names = sources.flatMap((source) => componentNameOf(asItRuns(source)) ?? []);
  const [components, owner, activity] = await Promise.all([
    context.components.knownOf(namespace, names),
    owners.ownerOf(namespace),
    activityOf(sources, context),
  ]);
  const now = clock.now();
  return (source) => ({ component: components.get(componentNameOf(asItRuns(source)) ?? ""), owner, now, ...activity(source) });
}

type ActivityFacts = Pick<SourceFacts, "latest" | "backlog">;

/** One query for the latest runs. While NATS does not respond, backlogs are unknown, and the rest is still returned. */
async function activityOf(
  sources: readonly SourceResource[],
  { ports }: Pick<ApiContext, "ports">,
): Promise<(source: SourceResource) => ActivityFacts> {
  const [found, backlogs] = await Promise.all([
    ports.activity.since(sources.map((source) => ({ source: publicIdOf(source), lastRunAt: 0 }))),
    ports.sourceBacklogs.read().catch(() => undefined),
  ]);
  const latest = new Map<string, LatestRuns>(found.map((each) => [each.source, each]));
  return (source) => {
    const id = publicIdOf(source);
    return { latest: latest.get(id), backlog: backlogs === undefined ? undefined : (backlogs.get(id) ?? 0) };
  };
}
