import { z } from "zod";
import { optionalParameter, text } from "../http/request/parameters.ts";
import { auditOutcomes } from "./ports.ts";

const value = optionalParameter(text.max(255, "it must have at most 255 characters"));
const epochMs = optionalParameter(
  z
    .string()
    .regex(/^\d{1,15}$/, "it must be a time in epoch milliseconds")
    .transform(Number),
);

/** Filters of the lists of changes; all of them apply. */
export const auditFilters = z.object({
  kind: value.describe("Only changes of this kind, such as `Source`."),
  action: value.describe("Only changes by this action, such as `create`, `update` or `delete`."),
  actor: value.describe("Only changes by this actor: id of a user or key, name of a key, `user` or `admin`."),
  name: value.describe("Only changes of resources whose name contains this text; upper and lower case are equal."),
  resource_id: value.describe("Only changes of the resource with this id."),
  outcome: optionalParameter(z.enum(auditOutcomes, `it must be ${auditOutcomes.join(" or ")}`)).describe(
    "`ok`: only changes by requests that succeeded; `failed`: only those by requests that returned an error.",
  ),
  since: epochMs.describe("Start of the time range, epoch milliseconds."),
  until: epochMs.describe("End of the time range, epoch milliseconds, inclusive."),
});
