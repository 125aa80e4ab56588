import type { ComponentDefinition, PropDefinition } from "./definition.ts";
import type { Warning } from "./warning.ts";

/**
 * Probable mistakes that depend on what a component is used for: code that was written for a step in a source, or the other way round.
 * Such components load, since public ones of the wrong kind often work in part.
 */

const actionsOnly: ReadonlySet<string> = new Set(["any", "any[]", "object[]"]);

/** Of a component that is deployed as a source. */
export function warningsAsSource(definition: ComponentDefinition): readonly Warning[] {
  const { takesStep, props } = definition;
  const code: Warning = {
    code: "wrong_kind",
    message: "run takes { steps, $ }, which only steps of workflows get: run of a source gets (event, metadata), and emits with this.$emit",
    path: "run",
  };
  return [
    ...(takesStep === true ? [code] : []),
    ...aboutProps(props, ({ type }) =>
      actionsOnly.has(type) ? `type ${type} is meant for actions: in a source use string, object or string[]` : undefined,
    ),
  ];
}

/** Of a component that is the action of a step. */
export function warningsAsAction(definition: ComponentDefinition): readonly Warning[] {
  const { takesEvent, props } = definition;
  const code: Warning = {
    code: "wrong_kind",
    message: "run takes an event, as that of a source: run of a step gets { steps, $ }, and the event is steps.trigger.event",
    path: "run",
  };
  return [...(takesEvent === true ? [code] : []), ...aboutProps(props, sourceType)];
}

/** By the type that the component states; without one it may be used as either. */
export function warningsOfKind(definition: ComponentDefinition): readonly Warning[] {
  if (definition.type === "action") return warningsAsAction(definition);
  return definition.hasNoType === true ? [] : warningsAsSource(definition);
}

function sourceType({ type }: PropDefinition): string | undefined {
  if (type.startsWith("$.interface.")) return `type ${type} is meant for sources: triggers of the workflow start the runs of a step`;
  return type === "$.service.db" ? `type ${type} is meant for sources: in a step its set fails, and steps pass data by exports` : undefined;
}

const aboutProps = (props: readonly PropDefinition[], why: (prop: PropDefinition) => string | undefined): readonly Warning[] =>
  props.flatMap((prop) => {
    const reason = why(prop);
    const name = prop.name.slice(0, 100);
    return reason === undefined ? [] : [{ code: "wrong_kind", message: `prop '${name}': ${reason}`, path: `props.${name}.type` }];
  });
