import { z } from "zod";
import { variableLimits, variableName } from "../../domain/variable/variable.ts";
import { flag, text } from "../http/request/parameters.ts";

const { valueBytes } = variableLimits;

export const variableNameText = text.regex(variableName.pattern, variableName.message);

export const variableFields = z.object({
  value: text
    .refine((value) => Buffer.byteLength(value) <= valueBytes, `it must have at most ${valueBytes} bytes`)
    .describe("The value. An empty text is a value."),
  secret: flag
    .optional()
    .describe(
      "Whether no response shows the value, and logs and errors of runs have `***` in its place. Absent: as before; false for a new one.",
    ),
});

export const variableSchema = z
  .object({
    name: z.string().describe("Steps read it as `{{ env.NAME }}`, inline code as `process.env.NAME`."),
    value: z.string().nullable().describe("Null if it is secret."),
    secret: z.boolean(),
    origin: z
      .enum(["own", "shared"])
      .describe("`own`: of the owner; `shared`: of the installation, for all owners. An own one of the same name counts."),
    healthy: z.boolean().nullable().describe("Whether runs read it. Null until that is known."),
    problem: z.string().nullable().describe("Why runs do not read it."),
    updated_at: z.string().describe("ISO 8601, UTC."),
  })
  .meta({ id: "Variable", description: "A named value that steps of workflows read." });
