import { z } from "zod";
import { componentTypes } from "../../domain/component/definition.ts";

const authSchema = z.object({
  kind: z.enum(["oauth2", "secret_text", "basic", "custom", "oidc"]),
  authorization_url: z.string().nullable(),
  token_url: z.string().nullable(),
  scopes: z.array(z.string()),
  fields: z.array(z.object({ name: z.string(), label: z.string(), secret: z.boolean(), optional: z.boolean() })),
});

export const packageSchema = z
  .object({
    name: z.string(),
    version: z.string().describe("The version that npm finds for the requested one."),
    integrity: z.string().describe("Hash of its tarball, by which components of it are pinned."),
    deprecated: z.string().nullable().describe("What its publisher says of a version that should not be used any more."),
    kind: z.enum(["components", "piece", "component", "none"]).describe("What is in it; `piece`: a piece of Activepieces."),
    display_name: z.string().nullable(),
    description: z.string().nullable(),
    app: z.string().nullable().describe("Slug of the app whose accounts it uses."),
    auth: z.array(authSchema).describe("The ways in which it authenticates."),
    actions: z.int(),
    sources: z.int(),
    problem: z.string().nullable().describe("Why its code cannot be loaded here."),
  })
  .meta({ id: "Package", description: "A package of the npm registry." });

export const packageComponentSchema = z
  .object({
    component_url: z.string().describe("Its address, which POST /components, sources and steps take."),
    type: z.enum(componentTypes),
    name: z.string(),
    key: z.string().nullable(),
    version: z.string().nullable(),
    description: z.string().nullable(),
    trigger: z.enum(["polling", "webhook", "app_webhook", "manual"]).nullable().describe("How a trigger of a piece receives events."),
    problem: z.string().nullable().describe("Why it cannot work here, or what it needs."),
  })
  .meta({ id: "PackageComponent", description: "A component of a package of the npm registry." });
