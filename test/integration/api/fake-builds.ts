import { createHash } from "node:crypto";
import type { Build, ComponentDefinition, PropDefinition } from "../../../domain/component/definition.ts";
import { InvalidInput } from "../../../domain/errors.ts";

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

const props: Readonly<Record<string, PropDefinition>> = {
  timer: { name: "timer", type: "$.interface.timer", default: { intervalSeconds: 60 } },
  http: { name: "http", type: "$.interface.http" },
  db: { name: "db", type: "$.service.db" },
  token: { name: "token", type: "string", secret: true },
  city: { name: "city", type: "string", label: "City", optional: true },
  shop: { name: "shop", type: "app", app: "shop" },
  count: { name: "count", type: "integer", optional: true, min: 1 },
};

export const misspeltHook = { code: "unknown_hook", message: "did you mean deploy?", path: "hooks.deply" };

/**
 * "Code" of the tests: `name: <name>; props: <known props>; key: <key>; version: <version>; type: action; fail: <hook>; additional; needs event; deply`, or `broken`, which a real
 * builder would refuse in the same way. `fail` is read by the operator of the tests.
 */
export function fakeBuild(code: string): Build {
  if (code.includes("broken"))
    throw new InvalidInput("component.js:1:1: Unexpected token", {
      code: "syntax_error",
      details: { line: 1, column: 1, text: "broken" },
    });
  const field = (name: string): string | undefined => new RegExp(`${name}: ([^;]+)`).exec(code)?.[1]?.trim();
  const key = field("key");
  const definition: ComponentDefinition = {
    name: field("name") ?? "Unnamed",
    ...(key === undefined ? {} : { key }),
    type: field("type") === "action" ? "action" : "source",
    version: field("version") ?? "0.0.1",
    props: (field("props") ?? "").split(" ").flatMap((name) => props[name] ?? []),
    hooks: [],
    hasAdditionalProps: code.includes("additional"),
    ...(code.includes("needs event") ? { needsEvent: true } : {}),
  };
  return {
    codeHash: sha256(code),
    bundle: sha256(`bundle ${code}`),
    bundleBytes: code.length,
    needsNode: false,
    definition,
    lockfile: null,
    ...(code.includes("deply") ? { warnings: [misspeltHook] } : {}),
  };
}
