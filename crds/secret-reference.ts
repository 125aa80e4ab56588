import { z } from "zod";
import { resourceName } from "./resource.ts";
import { exactlyOneOf, matching, withRules } from "./rules.ts";

/** A key of a Kubernetes Secret or ConfigMap. */
export const dataKey = matching(/^[-._a-zA-Z0-9]{1,253}$/, 253, "a key has at most 253 letters, digits, '-', '_' and '.'");

/** Refers to a secret text: in a Secret of the resource's namespace, or sealed within the resource. */
export const secretReference = withRules(
  z.object({
    sealed: z
      .string()
      .max(262_144)
      .optional()
      .describe(
        "The text, encrypted by Headwater (compact JWE). Headwater writes it on installations without Secrets; you cannot create one yourself.",
      ),
    secretKeyRef: z
      .object({
        name: resourceName.describe("Name of the Secret."),
        key: dataKey.describe("Key within its data."),
      })
      .optional()
      .describe('A key of a Secret in the resource\'s namespace, with the label `headwater.dev/may-be-referenced: "true"`.'),
  }),
  exactlyOneOf(["sealed", "secretKeyRef"], "they refer to the secret text"),
).describe("Reference to a secret text: exactly one of `secretKeyRef` and `sealed`.");
export type SecretReference = z.infer<typeof secretReference>;
