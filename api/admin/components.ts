import { z } from "zod";
import { componentKind } from "../../crds/component.ts";
import { checkPublishable, publicationLimits, type Publishable } from "../../domain/component/publication.ts";
import type { ErrorCode } from "../../domain/error-codes.ts";
import { Conflict, NotFound, Unavailable } from "../../domain/errors.ts";
import { isId } from "../../domain/ids.ts";
import type { NewPublication, Publication, PublishOutcome } from "../resources/library/ports.ts";
import { publishedComponentResponse } from "../components/response.ts";
import { publishedComponentSchema } from "../components/schemas.ts";
import { text } from "../http/request/parameters.ts";
import { noContent, ok } from "../http/response/replies.ts";
import { nothing, one } from "../http/response/schemas.ts";
import { pathOf } from "../http/routing/handle.ts";
import type { ApiPorts } from "../ports.ts";
import type { ComponentResource } from "../resources/components.ts";
import { publicIdOf } from "../resources/identity.ts";
import { notFound } from "../resources/not-found.ts";
import { publicationId } from "../resources/library/registry.ts";
import { adminOperation } from "./context.ts";

const deprecation = z.object({
  deprecated: text
    .min(1, "it must say why, or be null")
    .max(publicationLimits.deprecationCharacters, `it must have at most ${publicationLimits.deprecationCharacters} characters`)
    .nullable()
    .describe("Why it is deprecated, and what to use instead: the warning for its users. Null: it is no longer deprecated."),
});

export const adminComponentOperations = [
  adminOperation({
    route: "POST /components/:id/publish",
    id: "publishComponent",
    change: { action: "publish", kind: "Component" },
    summary: "Publish a saved component of any owner in the registry, for all owners",
    description:
      "Its key must be `<app>-<name>` and its version a semantic version. A version never changes: publishing it again with the same code returns it, with other code it is a conflict.",
    responses: one(publishedComponentSchema),
    errors: [404, 409],
    handle: async (call, { ports }) => {
      const component = await componentOf(pathOf(call, "id"), ports);
      const { publication, warnings } = publicationOf(component, ports.clock.now());
      refuse(await ports.publications.publish(publication), publication);
      return ok(publishedComponentResponse(await publishedVersion(publication.key, publication.version, ports)), warnings);
    },
  }),
  adminOperation({
    route: "PUT /components/registry/:published_version",
    id: "deprecatePublishedVersion",
    change: { action: "deprecate", kind: "Component" },
    summary: "Deprecate a published version, or end its deprecation",
    description: "Keys stand for their newest version that is not deprecated. Sources and workflows that run the version continue.",
    body: deprecation,
    responses: one(publishedComponentSchema),
    errors: [404],
    handle: async (call, { ports }) => {
      const { key, version } = parseReference(pathOf(call, "published_version"));
      if (!(await ports.publications.deprecate(key, version, call.body().deprecated))) throw versionNotFound(key, version);
      return ok(publishedComponentResponse(await publishedVersion(key, version, ports)));
    },
  }),
  adminOperation({
    route: "DELETE /components/registry/:published_version",
    id: "deletePublishedVersion",
    change: { action: "delete", kind: "Component" },
    summary: "Delete a deprecated version from the registry",
    description: "Sources and workflows that run it have copies, and continue. Its number cannot be published again.",
    responses: nothing,
    errors: [404, 409],
    handle: async (call, { ports }) => {
      const { key, version } = parseReference(pathOf(call, "published_version"));
      const outcome = await ports.publications.delete(key, version);
      if (outcome === "absent") throw versionNotFound(key, version);
      if (outcome === "not-deprecated")
        throw new Conflict(`version ${version} of ${key} is not deprecated: deprecate it first, so that its users get a warning`, {
          code: "version_not_deprecated",
        });
      return noContent;
    },
  }),
];

type Ports = Pick<ApiPorts, "store" | "publications">;

/** Parses `<key>@<version>`; neither has an `@`. */
function parseReference(reference: string): { readonly key: string; readonly version: string } {
  const [key = "", version = ""] = reference.split("@", 2);
  return { key, version };
}

/** @throws NotFound, also for a key: several owners can have components with one key */
async function componentOf(id: string, { store }: Ports): Promise<ComponentResource> {
  const found = isId("component", id) ? await store.findById(componentKind, id) : undefined;
  if (found === undefined || found.metadata.deletionTimestamp !== undefined) throw notFound("component", id);
  return found;
}

/** @throws InvalidInput, LimitExceeded if it may not be published; Unavailable until it is built */
function publicationOf(
  component: ComponentResource,
  publishedAtMs: number,
): { readonly publication: NewPublication } & Pick<Publishable, "warnings"> {
  const { spec, status } = component;
  if (status.build === undefined)
    throw new Unavailable(`component ${publicIdOf(component)} is not built yet: try again`, { code: "component_not_built" });
  const { definition } = status.build;
  const { key, version, warnings } = checkPublishable(definition);
  const { code, entry, files } = spec;
  return { publication: { id: publicationId(key, version), key, version, code, entry, files, definition, publishedAtMs }, warnings };
}

/** @throws Conflict unless the version is published */
function refuse(outcome: PublishOutcome, { key, version }: NewPublication): void {
  const { versionsOfKey, versions, codeBytes } = publicationLimits;
  const deleteFirst = "delete deprecated versions first (DELETE /admin/v1/components/registry/{key}@{version})";
  const conflicts: Readonly<Record<Exclude<PublishOutcome, "published" | "existing">, readonly [code: ErrorCode, message: string]>> = {
    "other-code": ["version_published", `version ${version} of ${key} is published with other code: give the component a new version`],
    deleted: ["version_deleted", `version ${version} of ${key} was deleted and cannot be used again: give the component a new version`],
    "key-full": ["registry_full", `${key} has ${versionsOfKey} versions, which is the limit: ${deleteFirst}`],
    full: ["registry_full", `the registry has ${versions} versions or ${codeBytes} bytes of code, which is the limit: ${deleteFirst}`],
  };
  if (outcome === "published" || outcome === "existing") return;
  const [code, message] = conflicts[outcome];
  throw new Conflict(message, { code, details: { key, version } });
}

async function publishedVersion(key: string, version: string, { publications }: Ports): Promise<Publication> {
  const found = await publications.find(key, version);
  if (found === undefined) throw versionNotFound(key, version);
  return found;
}

const versionNotFound = (key: string, version: string): NotFound =>
  new NotFound(
    `record not found: '${key.slice(0, 80)}' has no published version '${version.slice(0, 80)}'; write it as acme-feed@1.0.0, GET /v1/components/registry/{key}/versions lists them`,
  );
