import { z } from "zod";
import { appSlug } from "../domain/app/app.ts";
import { baseStatus, columnsOf, defineKind, type Resource } from "./resource.ts";
import { matching } from "./rules.ts";
import { secretReference } from "./secret-reference.ts";

const spec = z.object({
  app: matching(appSlug.pattern, 63, appSlug.message).describe("Name slug of the app, such as slack."),
  name: z.string().max(255).optional().describe("Display name."),
  clientId: z.string().min(1).max(2_048).describe("The client's id, as the service gave it."),
  clientSecret: secretReference
    .optional()
    .describe("Reference to the client's secret, if it has one: exactly one of `secretKeyRef` and `sealed`."),
  origins: z
    .array(z.string().max(2_048))
    .max(10)
    .optional()
    .describe(
      "Origins to which the secret and tokens may be sent, such as https://acme.example. If the app has others, the client is not used. Required with an App, not with an app that comes with Headwater.",
    ),
  scopes: z
    .array(z.string().min(1).max(512))
    .max(100)
    .optional()
    .describe("Scopes to request with this client. If absent, those of the app."),
});
export type OAuthClientSpec = z.infer<typeof spec>;

const status = baseStatus.extend({
  updatedAt: z.int().optional().describe("When the operator saw the last change of the spec, epoch milliseconds."),
});
export type OAuthClientStatus = z.infer<typeof status>;
export type OAuthClientResource = Resource<OAuthClientSpec, OAuthClientStatus>;

export const oauthClientKind = defineKind<OAuthClientSpec, OAuthClientStatus>({
  kind: "OAuthClient",
  plural: "oauthclients",
  shortNames: ["hwoac"],
  description: "A client that was registered at a service, by which accounts of an app are connected.",
  columns: columnsOf(
    { name: "App", type: "string", path: ".spec.app", description: "Name slug of the app." },
    { name: "Client", type: "string", path: ".spec.clientId", description: "The client's id.", wide: true },
  ),
  selectable: [".spec.app", ".status.id"],
  immutable: [
    { field: "app", message: "the app of a client cannot be changed, because accounts were connected by it: create another OAuthClient" },
  ],
  spec,
  status,
});
