import { sql, type RawBuilder } from "kysely";
import type { WebhookState } from "../../../domain/delivery/webhook-health.ts";
import type { WorkflowState } from "../../../domain/workflow/workflow-health.ts";

/** Filters for lists of webhooks and workflows, combined with "and". */
export interface ListedSelection {
  /** Case-insensitive part of the name, the URL or the id. */
  readonly text?: string | undefined;
  /** As the operator has stored it: up to a minute old, except `paused`. */
  readonly state?: WebhookState | WorkflowState | undefined;
  /** Type of a trigger of a workflow; `none`: it has no trigger. */
  readonly trigger?: string | undefined;
}

const fact = (name: string): RawBuilder<unknown> => sql`resources.list_facts ->> ${sql.lit(name)}`;
/** Of the running version. Absent means active, as in the schemas. */
const isActive = sql`coalesce(${fact("runningActive")}, ${fact("active")}, 'true') = 'true'`;
/** What is switched on again keeps the state `paused` until the operator writes the next one. */
const stateOf = sql`case when not ${isActive} then 'paused' else coalesce(nullif(${fact("state")}, 'paused'), 'active') end`;

/** Conditions on a row of `resources`, by the columns of migrations/list-columns.ts. */
export function selectsListed({ text, state, trigger }: ListedSelection): readonly RawBuilder<unknown>[] {
  const contains = (value: RawBuilder<unknown>, part: string): RawBuilder<unknown> => sql`position(${part} in lower(${value})) > 0`;
  return [
    ...(text === undefined
      ? []
      : [
          sql`(${sql.join(
            searched.map((value) => contains(value, text.toLowerCase())),
            sql` or `,
          )})`,
        ]),
    ...(state === undefined ? [] : [sql`${stateOf} = ${state}`]),
    ...(trigger === undefined ? [] : [hasTrigger(trigger)]),
  ];
}

const searched = [sql`coalesce(${fact("name")}, resources.name)`, fact("url"), sql`resources.public_id`];

function hasTrigger(type: string): RawBuilder<unknown> {
  const triggers = sql`coalesce(nullif(resources.list_facts -> 'triggers', 'null'), '[]')`;
  return type === "none" ? sql`${triggers} = '[]'` : sql`${triggers} ? ${type}`;
}
