import { z } from "zod";
import { configureLimits, type Configured } from "./configure.ts";
import type { PropDefinition } from "./definition.ts";

/** A definition is as free as the component format: what matters of one is its name and its type. */
const prop = z.custom<PropDefinition>(
  (value) =>
    typeof value === "object" &&
    value !== null &&
    typeof Reflect.get(value, "name") === "string" &&
    typeof Reflect.get(value, "type") === "string",
);

const configured = z.discriminatedUnion("outcome", [
  z.object({
    outcome: z.literal("options"),
    options: z.array(z.json()).max(configureLimits.options),
    context: z.json(),
    truncated: z.boolean(),
  }),
  z.object({ outcome: z.literal("props"), props: z.array(prop).max(configureLimits.props) }),
  z.object({
    outcome: z.literal("failed"),
    error: z.object({ name: z.string(), message: z.string(), stack: z.string().exactOptional(), code: z.string().exactOptional() }),
  }),
]);

/** An answer as a runner sent it: a process that runs the code of users is not believed to keep to the form. @throws ZodError */
export function parseConfigured(value: unknown): Configured {
  return configured.parse(value);
}
