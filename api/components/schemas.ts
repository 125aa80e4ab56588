import { z } from "zod";
import { componentTypes } from "../../domain/component/definition.ts";
import { times } from "../resources/schemas.ts";

const propSchema = z.looseObject({ name: z.string(), type: z.string() }).meta({
  id: "Prop",
  description: "A prop of a component, with all fields of its definition: label, description, optional, default, options …",
});

export const configurableProps = z.array(propSchema);

const originSchema = z
  .object({
    url: z.string().describe("As it was requested."),
    package: z.string(),
    version: z.string().describe("The version that was found, which stays until you save it again."),
    integrity: z.string().describe("Hash of its tarball, which pins it."),
  })
  .nullable()
  .describe("Of a component that came from npm; otherwise null.");

export const componentSchema = z
  .object({
    id: z.string().describe("`sc_…`."),
    code: z.string(),
    entry: z.string().nullable().describe("Path of the file with the code, if it has one."),
    files: z.array(z.string()).describe("Paths of the other files."),
    code_hash: z.string().describe("SHA-256 of the code, hex."),
    name: z.string().nullable(),
    version: z.string().nullable(),
    configurable_props: configurableProps,
    origin: originSchema,
    ...times,
  })
  .meta({ id: "Component" });

const deprecated = z.string().nullable().describe("Why this version is deprecated, and what to use instead; null: it is not.");

export const publishedComponentSchema = componentSchema
  .extend({ key: z.string(), deprecated })
  .meta({ id: "PublishedComponent", description: "A version of a component of the registry." });

export const listedComponentSchema = z
  .object({
    id: z.string().describe("`sc_…`."),
    key: z.string().nullable(),
    code_hash: z.string().describe("SHA-256 of the code, hex."),
    name: z.string(),
    version: z.string().nullable(),
    description: z.string().nullable(),
    type: z.enum(componentTypes),
    configurable_props: configurableProps,
    registry: z.boolean().describe("Whether it is part of the registry."),
    ...times,
  })
  .meta({ id: "ListedComponent", description: "A component in lists, without its code." });

export const publishedVersionSchema = listedComponentSchema
  .extend({ deprecated })
  .meta({ id: "PublishedVersion", description: "A version of a component of the registry, without its code." });

export const foundKeysSchema = z
  .object({ sources: z.array(z.string()), actions: z.array(z.string()) })
  .meta({ id: "FoundKeys", description: "Keys of components, best first." });
