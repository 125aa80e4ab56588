import { z } from "zod";
import { usageFailure } from "../failure.ts";
import { objectsOf } from "../values.ts";

const timer = z.strictObject({ cron: z.string().optional(), timezone: z.string().optional(), interval_seconds: z.number().optional() });
const trigger = z.union([
  z.strictObject({ source: z.string().min(1) }),
  z.strictObject({ http: z.strictObject({ custom_response: z.boolean().optional() }) }),
  z.strictObject({ skip: z.literal(true) }),
  timer.refine(({ cron, interval_seconds: seconds }) => (cron === undefined) !== (seconds === undefined), "give cron or interval_seconds"),
]);
export type TriggerAnswer = z.output<typeof trigger>;
const component = z.union([z.strictObject({ url: z.string().min(1) }), z.strictObject({ component_key: z.string().min(1) })]);

/** Addresses of the components of the service, such as those of its public repository: `uses: app-name@1` is at the address with both. */
const componentsAt = z
  .string()
  .refine(
    (text) => text.includes("{app}") && text.includes("{name}"),
    "it must contain {app} and {name}, such as https://…/{app}/actions/{name}/{name}.mjs",
  );

const answers = z.strictObject({
  triggers: z.record(z.string(), trigger).default({}),
  accounts: z.record(z.string(), z.string()).default({}),
  stores: z.record(z.string(), z.string()).default({}),
  /** By id of a source of the service: values in place of those that it shows, such as secrets. */
  props: z.record(z.string(), z.record(z.string(), z.unknown())).default({}),
  components: z.record(z.string(), component).default({}),
  components_at: componentsAt.optional(),
});
/** What an export does not say, by ids and keys of the service. */
export type Answers = z.output<typeof answers>;

export const noAnswers: Answers = answers.parse({});

/** @throws Failure that names the field */
export async function readAnswers(file: string): Promise<Answers> {
  const [given = {}, another] = await objectsOf(file);
  if (another !== undefined) throw usageFailure(`${file} has several documents`, "write the answers in one");
  const parsed = answers.safeParse(given);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw usageFailure(
    `${file}: ${issue?.path.join(".") ?? ""}: ${issue?.message ?? "it is invalid"}`,
    "docs/migrating.md shows the form of answers",
  );
}
