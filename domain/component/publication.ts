import type { ErrorCode } from "../error-codes.ts";
import { InvalidInput, LimitExceeded } from "../errors.ts";
import { nameSlug } from "../name-slug.ts";
import type { ComponentDefinition } from "./definition.ts";
import { parseSemanticVersion } from "./semantic-version.ts";
import type { Warning } from "./warning.ts";

/** Bounds of the versions that admins publish. Lists and searches read the definitions of all current versions. */
export const publicationLimits = {
  /** A key is also the value of a label, which has at most this many. */
  keyCharacters: 63,
  definitionBytes: 64 * 1024,
  versionsOfKey: 100,
  versions: 2_000,
  /** Of all versions, with their files. */
  codeBytes: 256 * 2 ** 20,
  /** Of all versions. */
  definitionsBytes: 16 * 2 ** 20,
  deprecationCharacters: 500,
} as const;

/** Prefix of the keys that come with Headwater. */
export const ownNamespace = "headwater-";

/** `<app>-<name>`. App slugs may have underscores. */
const keyForm = /^[a-z0-9][a-z0-9_]*(-[a-z0-9_]+)+$/;

/** What is published under which key and version. */
export interface Publishable {
  readonly key: string;
  readonly version: string;
  readonly warnings: readonly Warning[];
}

/**
 * Checks that a component may be published: `<app>-<name>` as its key, a semantic version, and a bounded definition.
 * @throws InvalidInput, LimitExceeded
 */
export function checkPublishable(definition: ComponentDefinition): Publishable {
  const key = checkedKey(definition);
  const { version } = definition;
  if (version === undefined || parseSemanticVersion(version) === undefined)
    throw new InvalidInput(
      `version ${version === undefined ? "is missing" : `'${version.slice(0, 80)}' is not a semantic version`}: a published component needs one such as 1.2.0 or 2.0.0-beta.1, without build metadata`,
      { code: "version_not_semantic" },
    );
  const bytes = new TextEncoder().encode(JSON.stringify(definition)).length;
  if (bytes > publicationLimits.definitionBytes)
    throw new LimitExceeded(
      `the definition of ${key} has ${bytes} bytes, ${publicationLimits.definitionBytes} are allowed in the registry: shorten descriptions and lists of options`,
      { code: "definition_too_large", details: { bytes, limit: publicationLimits.definitionBytes } },
    );
  return { key, version, warnings: nameWarnings(key, definition.name) };
}

function checkedKey({ key, name, props }: ComponentDefinition): string {
  const apps = [...new Set(props.flatMap(({ type, app }) => (type === "app" && app !== undefined ? [app.toLowerCase()] : [])))];
  const example = `${apps[0] ?? "acme"}-${nameSlug(name)}`.slice(0, publicationLimits.keyCharacters);
  const refuse = (what: string, code: ErrorCode = "key_not_publishable"): InvalidInput => new InvalidInput(what, { code });
  if (key === undefined || key === "")
    throw refuse(`the component has no key: set key to <app>-<name> in its code, for instance '${example}'`);
  if (key.length > publicationLimits.keyCharacters || !keyForm.test(key))
    throw refuse(
      `key '${key.slice(0, 80)}' cannot be published: it must be <app>-<name> of at most ${publicationLimits.keyCharacters} lower-case letters, digits, _ and -, for instance '${example}'`,
    );
  if (key.startsWith(ownNamespace))
    throw refuse(`key '${key}' is reserved: keys that begin with ${ownNamespace} come with Headwater`, "key_reserved");
  if (apps.length > 0 && !apps.some((app) => key.startsWith(`${app}-`)))
    throw refuse(
      `key '${key}' must begin with the app of the component: ${apps
        .slice(0, 5)
        .map((app) => `${app}-`)
        .join(" or ")}`,
    );
  return key;
}

/** Existing components have keys that differ from their names, so this is not an error. */
function nameWarnings(key: string, name: string): readonly Warning[] {
  const slug = nameSlug(name);
  if (key.endsWith(`-${slug}`)) return [];
  return [
    {
      code: "key_differs_from_name",
      message: `key '${key}' does not end with the name of the component, '${slug}': people who look for the name may not find it`,
      path: "key",
    },
  ];
}

/** The warning for users of a deprecated version. */
export function deprecationWarning({ key, version, deprecated }: { key: string; version: string; deprecated: string }): Warning {
  return { code: "version_deprecated", message: `version ${version} of ${key} is deprecated: ${deprecated}`, path: "version" };
}
