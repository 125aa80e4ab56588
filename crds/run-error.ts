import { z } from "zod";

/** `RunError` of domain/invocation/invocation.ts as a schema. */
export const runError = z
  .object({
    name: z.string().describe("Class of the error, such as TypeError."),
    message: z.string().describe("Message of the error."),
    stack: z
      .string()
      .optional()
      .describe("Stack trace, with positions in the component's modules by path; a component of one file is component.js."),
    code: z.string().optional().describe("Code of the exceeded limit, such as run_timeout."),
  })
  .describe("The error.");
