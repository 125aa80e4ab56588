import { sql, type RawBuilder } from "kysely";
import { componentKind } from "../../../crds/component.ts";
import { disabledCode } from "../../../domain/run/kills.ts";
import { disabledReason, progressReasons, type HealthState } from "../../../domain/source/source-health.ts";

/** Filters for lists of sources, combined with "and". */
export interface SourceSelection {
  readonly state?: HealthState | undefined;
  /** Case-insensitive part of the name, the slug, the id or the component's key. */
  readonly text?: string | undefined;
  /** Exact key of the running component. */
  readonly componentKey?: string | undefined;
  /** The running component has a prop of this type; `none`: of neither. */
  readonly trigger?: "http" | "timer" | "none" | undefined;
}

const fact = (path: string): RawBuilder<unknown> => sql`resources.source_facts #>> ${sql.lit(`{${path}}`)}`;
/** A fact of the running spec, which differs from the requested one while an update is pending and after it has failed. */
const runningFact = (name: string): RawBuilder<unknown> =>
  sql`case when ${fact("running")} is null then ${fact(name)} else ${fact(`running,${name}`)} end`;

/** Conditions on a row of `resources`, using the columns of source-facts.ts. @param namespace of the list; undefined: all */
export function selectsSources(
  { state, text, componentKey, trigger }: SourceSelection,
  namespace: string | undefined,
): readonly RawBuilder<unknown>[] {
  return [
    ...(state === undefined ? [] : [sql`${stateOf} = ${state}`]),
    ...(text === undefined ? [] : [containsText(text.toLowerCase(), namespace)]),
    ...(componentKey === undefined ? [] : [runsComponent(sql`${keyOfComponent} = ${componentKey}`, namespace)]),
    ...(trigger === undefined ? [] : [startsBy(trigger, namespace)]),
  ];
}

/** Only the last run matters, as in `healthOf`: the number of consecutive failures changes only the message. */
const stateOfRuns = sql`coalesce((
    select case
      when not last.failed or last.deployment is distinct from ${fact("deployment")} then 'active'
      -- Quotation marks within texts are escaped, so no message of user code looks like this.
      when position(${`"code":"${disabledCode}"`} in last.summary) > 0 then 'disabled'
      else 'failing' end
    from runs last where last.source = resources.public_id order by last.n desc limit 1
  ), 'active')`;

/** The state as derived by `healthOf`. Postgres reads the runs only for sources that are deployed and not paused. */
const stateOf = sql`case
    when ${runningFact("active")} = 'false' then 'paused'
    when ${fact("ready")} is null or (${fact("observedGeneration")})::bigint < resources.generation then 'deploying'
    when ${fact("ready")} = 'True' then ${stateOfRuns}
    when ${fact("reason")} = any(${[...progressReasons]}::text[]) then 'deploying'
    when ${fact("reason")} = ${disabledReason} then 'disabled'
    else 'failing' end`;

const keyOfComponent = sql`component.component #>> '{definition,key}'`;

/**
 * `coalesce` makes Postgres read the matching components once, into a hash table. A join may read them again for each source, which takes
 * minutes for 10,000.
 */
function runsComponent(matches: RawBuilder<unknown>, namespace: string | undefined): RawBuilder<unknown> {
  const within = namespace === undefined ? sql`true` : sql`component.namespace = ${namespace}`;
  return sql`coalesce((resources.namespace, coalesce(${runningFact("componentRef")}, ${fact("component")})) in (
    select component.namespace, component.name from resources component
    where component.kind = ${componentKind.kind} and ${within} and component.ended_at is null and ${matches}
  ), false)`;
}

function startsBy(trigger: NonNullable<SourceSelection["trigger"]>, namespace: string | undefined): RawBuilder<unknown> {
  if (trigger === "none") return sql`not (${startsBy("http", namespace)} or ${startsBy("timer", namespace)})`;
  const prop = JSON.stringify([{ type: `$.interface.${trigger}` }]);
  return runsComponent(sql`component.component #> '{definition,props}' @> ${prop}::jsonb`, namespace);
}

function containsText(text: string, namespace: string | undefined): RawBuilder<unknown> {
  const contains = (value: RawBuilder<unknown>): RawBuilder<unknown> => sql`position(${text} in lower(${value})) > 0`;
  return sql`(
    ${contains(sql`coalesce(${runningFact("name")}, resources.name)`)} or ${contains(sql`resources.name_slug`)} or ${contains(sql`resources.public_id`)}
    or ${runsComponent(contains(keyOfComponent), namespace)}
  )`;
}
