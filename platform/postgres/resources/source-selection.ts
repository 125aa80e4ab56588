import { sql, type RawBuilder } from "kysely";
import { componentKind } from "../../../crds/component.ts";
import { disabledCode } from "../../../domain/kills.ts";
import { disabledReason, progressReasons, type HealthState } from "../../../domain/source-health.ts";

/** Which sources a list shows; all that are given hold. */
export interface SourceSelection {
  readonly state?: HealthState | undefined;
  /** Occurs in the name, the slug, the id or the key of the component, in any case. */
  readonly text?: string | undefined;
  /** The key of the component that runs, exactly. */
  readonly componentKey?: string | undefined;
}

const fact = (path: string): RawBuilder<unknown> => sql`resources.source_facts #>> ${sql.lit(`{${path}}`)}`;
/** A fact of what runs: while an update waits, and after it has failed, that is not what the spec asks for. */
const ofRunning = (name: string): RawBuilder<unknown> =>
  sql`case when ${fact("running")} is null then ${fact(name)} else ${fact(`running,${name}`)} end`;

/** Conditions on a row of `resources`; see source-facts.ts for what they read. @param namespace of the list; undefined is all of them */
export function selectsSources(
  { state, text, componentKey }: SourceSelection,
  namespace: string | undefined,
): readonly RawBuilder<unknown>[] {
  return [
    ...(state === undefined ? [] : [sql`${stateOf} = ${state}`]),
    ...(text === undefined ? [] : [mentions(text.toLowerCase(), namespace)]),
    ...(componentKey === undefined ? [] : [runsComponent(sql`${keyOfComponent} = ${componentKey}`, namespace)]),
  ];
}

/** The last run alone decides here, as it does in `healthOf`: the number of failed runs in a row changes the message only. */
const stateOfRuns = sql`coalesce((
    select case
      when not last.failed or last.deployment is distinct from ${fact("deployment")} then 'active'
      -- Quotation marks within texts are escaped, so no message of user code looks like this.
      when position(${`"code":"${disabledCode}"`} in last.summary) > 0 then 'disabled'
      else 'failing' end
    from runs last where last.source = resources.public_id order by last.n desc limit 1
  ), 'active')`;

/** The state that `healthOf` derives. Postgres looks at the runs only of sources that are deployed and not paused. */
const stateOf = sql`case
    when ${ofRunning("active")} = 'false' then 'paused'
    when ${fact("ready")} is null or (${fact("observedGeneration")})::bigint < resources.generation then 'deploying'
    when ${fact("ready")} = 'True' then ${stateOfRuns}
    when ${fact("reason")} = any(${[...progressReasons]}::text[]) then 'deploying'
    when ${fact("reason")} = ${disabledReason} then 'disabled'
    else 'failing' end`;

const keyOfComponent = sql`component.component #>> '{definition,key}'`;

/**
 * Within `coalesce`, Postgres reads the matching components once and looks each source's up in a hash table. As a join it may choose to
 * read them again for each source, which takes minutes for 10,000.
 */
function runsComponent(matches: RawBuilder<unknown>, namespace: string | undefined): RawBuilder<unknown> {
  const within = namespace === undefined ? sql`true` : sql`component.namespace = ${namespace}`;
  return sql`coalesce((resources.namespace, coalesce(${ofRunning("componentRef")}, ${fact("component")})) in (
    select component.namespace, component.name from resources component
    where component.kind = ${componentKind.kind} and ${within} and component.ended_at is null and ${matches}
  ), false)`;
}

function mentions(text: string, namespace: string | undefined): RawBuilder<unknown> {
  const contains = (value: RawBuilder<unknown>): RawBuilder<unknown> => sql`position(${text} in lower(${value})) > 0`;
  return sql`(
    ${contains(sql`coalesce(${ofRunning("name")}, resources.name)`)} or ${contains(sql`resources.name_slug`)} or ${contains(sql`resources.public_id`)}
    or ${runsComponent(contains(keyOfComponent), namespace)}
  )`;
}
