import { withAdditional } from "../../domain/component/definition.ts";
import { configurablePropsResponse, configuredPropsResponse } from "../../domain/component/prop-responses.ts";
import { nameSlug } from "../../domain/name-slug.ts";
import type { KnownComponent } from "../resources/components.ts";
import { createdAt, epochSeconds, publicIdOf } from "../resources/identity.ts";
import type { Answered } from "../http/response/answered.ts";
import { ownerField } from "../resources/owner-field.ts";
import { readFields, readText } from "../resources/stored-fields.ts";
import { healthResponse, type HealthFacts } from "./health-response.ts";
import { asItRuns } from "../resources/source.ts";
import { settingsShown } from "./settings.ts";
import type { SourceResource } from "../resources/source.ts";
import { sourceSchema } from "./schemas.ts";

/** Facts about a source that are not in its resource. */
export interface SourceFacts extends HealthFacts {
  readonly component: Pick<KnownComponent, "id" | "definition"> | undefined;
  readonly owner: string | undefined;
}

/** A source (specification, "Source"): `user_id` only after a change by the caller, `owner_id` only if an organization owns it. */
export function sourceResponse(source: SourceResource, facts: SourceFacts, userId?: string): Answered<typeof sourceSchema> {
  const { component, owner } = facts;
  const { spec, status } = asItRuns(source);
  const created = createdAt(source);
  const name = readText(spec.name) ?? source.metadata.name;
  const props = readFields(spec.props);
  const definition = component?.definition === undefined ? undefined : withAdditional(component.definition, status.configurableProps);
  return {
    id: publicIdOf(source),
    ...(userId === undefined ? {} : { user_id: userId }),
    ...ownerField(owner),
    component_id: component?.id ?? status.componentId ?? null,
    ...(component?.definition?.hasAdditionalProps === true && definition !== undefined
      ? { configurable_props: configurablePropsResponse(definition) }
      : {}),
    configured_props: definition === undefined ? props : configuredPropsResponse(definition, props, status.endpoint ?? null),
    ...settingsShown(sourceSchema.shape, spec),
    created_at: created,
    updated_at: status.updatedAt === undefined ? created : epochSeconds(status.updatedAt),
    name,
    name_slug: status.nameSlug ?? nameSlug(name),
    ...healthResponse(source, definition, facts),
  };
}
