import { z } from "zod";
import {
  componentTypes,
  dedupeStrategies,
  knownPropTypes,
  pickedPropType,
  type ComponentDefinition,
  type PropDefinition,
} from "./definition.ts";

/**
 * The component definition format (specification, "Component definition format") as schemas: of a definition that was read,
 * and of the author's form, from which the JSON Schema for docs and editors is generated.
 */
const option = z.union([
  z.string(),
  z.number(),
  z.boolean(),
  z.looseObject({ label: z.string().describe("What people see."), value: z.unknown().describe("What is configured.") }),
]);
const propType = z
  .union([z.enum(knownPropTypes), z.string().regex(pickedPropType)])
  .meta({ id: "propType", description: "What value it takes, or what the system gives it." });

const sharedFields = {
  label: z.string().exactOptional().describe("For people; without one, the prop's name."),
  description: z.string().exactOptional().describe("For people, in Markdown."),
  optional: z.boolean().exactOptional().describe("It may be left out."),
  default: z.unknown().optional().describe("The value when none is given: any JSON value."),
  secret: z.boolean().exactOptional().describe("Texts only: kept encrypted, never shown again."),
  min: z.number().exactOptional().describe("Integers only."),
  max: z.number().exactOptional().describe("Integers only."),
  reloadProps: z.boolean().exactOptional().describe("Choosing a value asks `additionalProps` again."),
  customResponse: z.boolean().exactOptional().describe("`$.interface.http` only: the caller waits for `respond()`."),
  app: z.string().exactOptional().describe("`app` only: its slug."),
  static: z.unknown().optional().describe("The fixed value, which is not configured."),
  hidden: z.boolean().exactOptional().describe("Not shown, and not asked for."),
  disabled: z.boolean().exactOptional().describe("Without effect, and not asked for."),
};

const propDefinition: z.ZodType<PropDefinition> = z.looseObject({
  name: z.string(),
  type: z.union([z.enum(knownPropTypes), z.string().regex(pickedPropType)]),
  ...sharedFields,
  options: z.array(z.unknown()).exactOptional(),
  remoteOptions: z.boolean().exactOptional(),
});

/** A definition read from a module. */
export const componentDefinition: z.ZodType<ComponentDefinition> = z.object({
  name: z.string(),
  key: z.string().exactOptional(),
  type: z.enum(componentTypes),
  version: z.string().exactOptional(),
  description: z.string().exactOptional(),
  props: z.array(propDefinition),
  dedupe: z.enum(dedupeStrategies).exactOptional(),
  hooks: z.array(z.enum(["deploy", "activate", "deactivate"])),
  hasAdditionalProps: z.boolean(),
  hasNoType: z.literal(true).exactOptional(),
  needsEvent: z.literal(true).exactOptional(),
  takesStep: z.literal(true).exactOptional(),
  takesEvent: z.literal(true).exactOptional(),
  needsNoAccounts: z.literal(true).exactOptional(),
});

/** JSON Schema has no functions, so it only requires a value. */
const code = (what: string) => z.unknown().describe(`Function. ${what}`);

const writtenProp = z.looseObject({
  type: propType.exactOptional(),
  ...sharedFields,
  options: z
    .union([z.array(option), code("Lists them: `async options({page, prevContext, query})`.")])
    .optional()
    .describe("Values to choose from."),
  propDefinition: z
    .array(z.unknown())
    .min(2)
    .max(3)
    .exactOptional()
    .describe("`[app, name, inputs?]`: a prop that the app defines. Fields beside it override the app's."),
});

/** The author's export. */
export const writtenComponent = z
  .looseObject({
    name: z.string().min(1).describe("The component's name; a source's slug is made of it."),
    key: z.string().max(255).exactOptional().describe("Names the component within its owner: sources can be made by it."),
    version: z.string().exactOptional().describe("Any text; semantic versions are wise."),
    type: z.enum(componentTypes).exactOptional().describe("A component without a type is a source."),
    description: z.string().exactOptional().describe("For people."),
    dedupe: z.enum(dedupeStrategies).exactOptional().describe("Which emits are dropped by their ids; sources only."),
    props: z
      .record(z.string(), z.union([propType, writtenProp]))
      .exactOptional()
      .describe("What it asks for and is given, each as `this.<name>`; a type alone is a prop as well."),
    methods: z.record(z.string(), code("On `this`.")).exactOptional().describe("Functions on `this`."),
    hooks: z
      .object({
        deploy: code("Once, when the source is made.").optional(),
        activate: code("Before it is used, and after each change.").optional(),
        deactivate: code("Before each change, and before it is deleted.").optional(),
      })
      .exactOptional()
      .describe("Sources only."),
    additionalProps: code("`async additionalProps(previous)`: further props, by the values chosen so far.").optional(),
    run: code("What is called for a tick, a request, an event; of an action with `{steps, $}`."),
  })
  .describe("What a component's module exports: https://json-schema.org cannot describe functions, so they are named and not checked.");
