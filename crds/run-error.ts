import { z } from "zod";

/** `RunError` of domain/invocation.ts as a schema. */
export const runError = z
  .object({
    name: z.string().describe("Class of the error, such as TypeError."),
    message: z.string().describe("What it says."),
    stack: z
      .string()
      .optional()
      .describe(
        "Where it was thrown; positions are those of the component's modules, by their paths; a component of one file is component.js.",
      ),
    code: z.string().optional().describe("Code of a limit that was met, such as run_timeout."),
  })
  .describe("What was thrown.");
