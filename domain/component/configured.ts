import { z } from "zod";
import { configureLimits, type Configured } from "./configure.ts";
import type { PropDefinition } from "./definition.ts";

/** A definition is as open as the component format: only its name and type are required. */
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

/** Parses a runner's reply, which is untrusted because the process runs user code. @throws ZodError */
export function parseConfigured(value: unknown): Configured {
  return configured.parse(value);
}
