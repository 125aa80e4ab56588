import { z } from "zod";
import { resourceName } from "./resource.ts";
import { exactlyOneOf, matching, withRules } from "./rules.ts";

/** A key of a Secret or ConfigMap, as Kubernetes takes them. */
export const dataKey = matching(/^[-._a-zA-Z0-9]{1,253}$/, 253, "a key holds letters, digits, '-', '_' and '.', at most 253 of them");

/** Where a secret text is: in a Secret of the resource's namespace, or sealed within the resource. */
export const secretReference = withRules(
  z.object({
    sealed: z
      .string()
      .max(262_144)
      .optional()
      .describe(
        "The text itself, encrypted for Headwater (compact JWE). Written by Headwater where there are no Secrets; nobody else can make one.",
      ),
    secretKeyRef: z
      .object({
        name: resourceName.describe("Name of the Secret."),
        key: dataKey.describe("Key within its data."),
      })
      .optional()
      .describe("A key of a Secret in the resource's namespace."),
  }),
  exactlyOneOf(["sealed", "secretKeyRef"], "they say where the secret text is"),
).describe("Where a secret text is: exactly one of `secretKeyRef` and `sealed`.");
export type SecretReference = z.infer<typeof secretReference>;
